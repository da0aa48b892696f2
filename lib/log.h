/* SPDX-License-Identifier: MIT */
/* Messages of the commands on stderr: "kernelab: error: …". lib/ and drv/ never log themselves. */
#ifndef LIB_LOG_H
#define LIB_LOG_H

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

/* Level from KERNELAB_LOG; default LOG_WARNING. Commands may raise it (-v). */
void log_set_level(enum log_level level);
enum log_level log_get_level(void);

/* One line, newline added; written with one write(2), so lines of several processes do not mix. */
__attribute__((format(printf, 2, 3))) void log_print(enum log_level level, const char *format, ...);

#define log_error(...)   log_print(LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log_print(LOG_WARNING, __VA_ARGS__)
#define log_info(...)    log_print(LOG_INFO, __VA_ARGS__)
#define log_debug(...)   log_print(LOG_DEBUG, __VA_ARGS__)

#endif
