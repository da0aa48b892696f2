/* SPDX-License-Identifier: MIT */
/* The generated function of an address-recording variant, as PTX text. */
#ifndef LIB_PTX_NOTE_H
#define LIB_PTX_NOTE_H

/* Bits of its third parameter. */
#define NOTE_READ    1u
#define NOTE_WRITE   2u
#define NOTE_CAREFUL 4u /* stop at a read of what was written */
#define NOTE_STOPS   8u /* in a kernel with such reads: stop where another thread did */

/* Declares PTX_TABLE_SYMBOL and klab_note(address, bytes, bits). Static storage. */
extern const char *const ptx_note_text;

#endif
