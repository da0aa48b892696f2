/* SPDX-License-Identifier: MIT */
/* One table of the environment variables that kernelab reads; --help and the man page print it. */
#ifndef LIB_ENVIRONMENT_H
#define LIB_ENVIRONMENT_H

/* V(id, name, what it does) */
#define ENVIRONMENT(V)                                                                            \
	V(OUTPUT, "KERNELAB_OUTPUT",                                                              \
	  "folder for the bundles of a capture; the shim records only if it is set")              \
	V(NO_DATA, "KERNELAB_NO_DATA", "1: geometry and metadata only")                           \
	V(ORIGIN, "KERNELAB_ORIGIN",                                                              \
	  "origins to record, comma-separated, or all; default triton,tlx,inductor,test")         \
	V(ORIGIN_NAME, "KERNELAB_ORIGIN_NAME", "origin to note instead of the one found: test")   \
	V(PER_CLASS, "KERNELAB_PER_CLASS",                                                        \
	  "launches to record per config and shape class, default 1")                             \
	V(KERNELS, "KERNELAB_KERNELS",                                                            \
	  "record only kernels whose entry name matches (POSIX extended regular expression)")     \
	V(EXCLUDE, "KERNELAB_EXCLUDE", "record no kernels whose entry name matches")              \
	V(SKIP_LAUNCHES, "KERNELAB_SKIP_LAUNCHES",                                                \
	  "launches of each kernel and shape class to let pass before any is recorded")           \
	V(SAMPLE, "KERNELAB_SAMPLE",                                                              \
	  "K[,FIRST[,FACTOR]]: later launches to record per config and shape class, default 0")   \
	V(START_AFTER, "KERNELAB_START_AFTER", "30s or 1000 (launches): record nothing before")   \
	V(STOP_AFTER, "KERNELAB_STOP_AFTER", "30s or 1000 (launches): record no launch after")    \
	V(MAX_LAUNCHES, "KERNELAB_MAX_LAUNCHES", "launches that a process records at most")       \
	V(MAX_BYTES, "KERNELAB_MAX_BYTES",                                                        \
	  "size of a process's bundle after which no further launch is recorded")                 \
	V(RANKS, "KERNELAB_RANKS",                                                                \
	  "ranks to record contents of, e.g. 0,2-3; others record geometry and metadata only")    \
	V(CONFIG, "KERNELAB_CONFIG", "kernelab capture: JSON file with long options")             \
	V(CONTEXT, "KERNELAB_CONTEXT", "kernelab capture: file with answers about the model")     \
	V(COMMIT, "KERNELAB_COMMIT", "commit of the compiler under test, for the bundles")        \
	V(LABEL, "KERNELAB_LABEL", "name of the run in reports, for the bundles")                 \
	V(DEVICE, "KERNELAB_DEVICE", "kernelab capture: auto, gpu or soft")                       \
	V(FRESH_CACHE, "KERNELAB_FRESH_CACHE", "kernelab capture: 1: as --fresh-cache")           \
	V(MORE_CONFIGS, "KERNELAB_MORE_CONFIGS", "kernelab capture: 1: as --more-configs")        \
	V(CUPTI, "KERNELAB_CUPTI",                                                                \
	  "1: record the machine code that the driver makes of PTX and fatbins, through CUPTI")   \
	V(NO_GLUE, "KERNELAB_NO_GLUE", "1: as --no-glue; the glue itself heeds it too")           \
	V(PIN_WINNERS, "KERNELAB_PIN_WINNERS",                                                    \
	  "folder of a capture whose winners triton.autotune is to take; needs the Python glue")  \
	V(MAX_REGION, "KERNELAB_MAX_REGION",                                                      \
	  "bytes; memory of a launch that is larger is recorded without contents, default 4 GiB") \
	V(EXTENTS, "KERNELAB_EXTENTS",                                                            \
	  "auto: measure what a launch reads and writes, and record no more; off: do not")        \
	V(WAIT_BEFORE, "KERNELAB_WAIT_BEFORE",                                                    \
	  "longest time that a recorded launch is held up before it, default 20s")                \
	V(WAIT_AFTER, "KERNELAB_WAIT_AFTER", "and behind it, default 60s")                        \
	V(HASH, "KERNELAB_HASH",                                                                  \
	  "auto: hash memory on the device, and copy only what is not in the bundle yet; off: "   \
	  "copy all; verify: copy all, and compare with what the hashes say")                     \
	V(COMPRESS, "KERNELAB_COMPRESS", "lz4 or none: of contents in the bundle; default lz4")   \
	V(RING, "KERNELAB_RING",                                                                  \
	  "bytes of pinned memory for copies, in each context of a program, default 256 MiB")     \
	V(HOST_MEMORY, "KERNELAB_HOST_MEMORY",                                                    \
	  "bytes of host memory that a recording takes at most for its buffers, default 1 GiB")   \
	V(CACHE_ROOTS, "KERNELAB_CACHE_ROOTS",                                                    \
	  "more Triton cache folders to look for metadata in, colon-separated")                   \
	V(FACTS, "KERNELAB_FACTS",                                                                \
	  "file with lines name<TAB>value<TAB>how to write into every bundle")                    \
	V(LIBDIR, "KERNELAB_LIBDIR",                                                              \
	  "folder of libkernelab-shim.so and softgpu/, default: beside the program")              \
	V(DRIVER, "KERNELAB_DRIVER", "libcuda.so.1 for replay to use instead of the system's")    \
	V(STARTS, "KERNELAB_STARTS",                                                              \
	  "how often replay has started anew for want of addresses; it counts itself")            \
	V(LOG, "KERNELAB_LOG", "error, warning, info or debug; default warning")                  \
	V(SOFTGPU_LOG, "KERNELAB_SOFTGPU_LOG",                                                    \
	  "what the software device writes on stderr: quiet, error or info; default error")       \
	V(SOFTGPU_MEMORY, "KERNELAB_SOFTGPU_MEMORY",                                              \
	  "memory of the software device in bytes, suffix K, M, G or T; default 16G")             \
	V(SOFTGPU_FILL, "KERNELAB_SOFTGPU_FILL",                                                  \
	  "byte that fresh memory of the software device holds, 0 to 255; default 0xff")          \
	V(SOFTGPU_CONTRACT, "KERNELAB_SOFTGPU_CONTRACT",                                          \
	  "software device: may fuses mul and add as ptxas does, off does not; default may")      \
	V(SOFTGPU_SEED, "KERNELAB_SOFTGPU_SEED",                                                  \
	  "software device: order of blocks and warps; 0, default: ascending; N+: new each "      \
	  "launch")                                                                               \
	V(SOFTGPU_FAULT, "KERNELAB_SOFTGPU_FAULT",                                                \
	  "software device: ENTRY:N:RESULT, :stall:SECONDS or :lose, comma-separated, for tests") \
	V(SOFTGPU_DEVICES, "KERNELAB_SOFTGPU_DEVICES",                                            \
	  "software devices that the driver shows, 0 to 64; default 1")                           \
	V(SOFTGPU_QUOTA, "KERNELAB_SOFTGPU_QUOTA",                                                \
	  "software device: warp instructions after which a launch times out; default no limit")

enum environment_id {
#define V(id, name, text) ENVIRONMENT_##id,
	ENVIRONMENT(V)
#undef V
		ENVIRONMENT_COUNT
};

/* Name of a variable, and its value: NULL where unset or empty. */
const char *environment_name(enum environment_id id);
const char *environment_text(enum environment_id id);
const char *environment_get(enum environment_id id);
/* True where set to 1, true, yes or on. */
int environment_flag(enum environment_id id);

#endif
