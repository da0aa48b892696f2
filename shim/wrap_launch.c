/* SPDX-License-Identifier: MIT */
/* Wrappers of launches: what passes is counted in a few look-ups, the rest is described and
 * recorded. */
#include "shim/wrapping.h"

#include "shim/launches.h"

/*
 * The driver may call its own exported entries: those calls are not the program's, so they are
 * marked by shim_depth also where nothing is recorded.
 */
#define MARKED(call)              \
	do {                      \
		CUresult marked_; \
                                  \
		shim_depth++;     \
		marked_ = call;   \
		shim_depth--;     \
		return marked_;   \
	} while (0)

/* The call with what is recorded before and after it, the body of a function. */
#define RECORDED(facts, seq, call)                                \
	do {                                                      \
		struct recorder_scope scope_;                     \
		struct recording *recording_ = NULL;              \
		bool entered_ = recorder_enter(&scope_);          \
		CUresult recorded_;                               \
                                                                  \
		if (entered_)                                     \
			recording_ = launches_before(facts, seq); \
		recorded_ = call;                                 \
		if (entered_) {                                   \
			launches_after(recording_, recorded_);    \
			recorder_leave(&scope_);                  \
		}                                                 \
		return recorded_;                                 \
	} while (0)

typedef CUresult CUDAAPI launch_kernel_function(CUfunction, unsigned, unsigned, unsigned, unsigned,
						unsigned, unsigned, unsigned, CUstream, void **,
						void **);

/* Launches that did not pass. Out of line, so that the others do not pay for its stack. */
__attribute__((noinline)) static CUresult launch_kernel(launch_kernel_function *go,
							const struct launch_call *call,
							uint64_t seq)
{
	RECORDED(call, seq,
		 go(call->function, call->grid[0], call->grid[1], call->grid[2], call->block[0],
		    call->block[1], call->block[2], call->shared_bytes, call->stream, call->params,
		    call->extra));
}

/* By the names that the arguments have in both wrappers below. */
#define PLAIN_CALL(entry, per_thread)                                                      \
	.entry_point = #entry, .function = f, .grid = {gx, gy, gz}, .block = {bx, by, bz}, \
	.shared_bytes = shared, .stream = stream, .per_thread_stream = per_thread,         \
	.params = params

#define LAUNCH_KERNEL(entry, per_thread)                                                          \
	SHIM_HOT SHIM_EXPORT CUresult CUDAAPI entry(CUfunction f, unsigned int gx,                \
						    unsigned int gy, unsigned int gz,             \
						    unsigned int bx, unsigned int by,             \
						    unsigned int bz, unsigned int shared,         \
						    CUstream stream, void **params, void **extra) \
	{                                                                                         \
		const uint32_t grid[3] = {gx, gy, gz};                                            \
		uint64_t seq;                                                                     \
                                                                                                  \
		REAL_OR_RETURN(entry);                                                            \
		if (shim_depth || !recorder_wanted())                                             \
			return real.entry(f, gx, gy, gz, bx, by, bz, shared, stream, params,      \
					  extra);                                                 \
		seq = launches_pass(f, grid, params, extra);                                      \
		if (!seq)                                                                         \
			MARKED(real.entry(f, gx, gy, gz, bx, by, bz, shared, stream, params,      \
					  extra));                                                \
		return launch_kernel(real.entry,                                                  \
				     &(struct launch_call){PLAIN_CALL(entry, per_thread),         \
							   .extra = extra},                       \
				     seq);                                                        \
	}

LAUNCH_KERNEL(cuLaunchKernel, false)
LAUNCH_KERNEL(cuLaunchKernel_ptsz, true)

typedef CUresult CUDAAPI launch_cooperative_function(CUfunction, unsigned, unsigned, unsigned,
						     unsigned, unsigned, unsigned, unsigned,
						     CUstream, void **);

/* Recorded with the attribute that cuLaunchKernelEx would have been given. */
__attribute__((noinline)) static CUresult launch_cooperative(launch_cooperative_function *go,
							     struct launch_call *call, uint64_t seq)
{
	CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
				       .value.cooperative = 1};

	call->attributes = &attribute;
	call->attribute_count = 1;
	RECORDED(call, seq,
		 go(call->function, call->grid[0], call->grid[1], call->grid[2], call->block[0],
		    call->block[1], call->block[2], call->shared_bytes, call->stream,
		    call->params));
}

#define LAUNCH_COOPERATIVE_KERNEL(entry, per_thread)                                            \
	SHIM_HOT SHIM_EXPORT CUresult CUDAAPI entry(CUfunction f, unsigned int gx,              \
						    unsigned int gy, unsigned int gz,           \
						    unsigned int bx, unsigned int by,           \
						    unsigned int bz, unsigned int shared,       \
						    CUstream stream, void **params)             \
	{                                                                                       \
		const uint32_t grid[3] = {gx, gy, gz};                                          \
		uint64_t seq;                                                                   \
                                                                                                \
		REAL_OR_RETURN(entry);                                                          \
		if (shim_depth || !recorder_wanted())                                           \
			return real.entry(f, gx, gy, gz, bx, by, bz, shared, stream, params);   \
		seq = launches_pass(f, grid, params, NULL);                                     \
		if (!seq)                                                                       \
			MARKED(real.entry(f, gx, gy, gz, bx, by, bz, shared, stream, params));  \
		return launch_cooperative(                                                      \
			real.entry, &(struct launch_call){PLAIN_CALL(entry, per_thread)}, seq); \
	}

LAUNCH_COOPERATIVE_KERNEL(cuLaunchCooperativeKernel, false)
LAUNCH_COOPERATIVE_KERNEL(cuLaunchCooperativeKernel_ptsz, true)

typedef CUresult CUDAAPI launch_ex_function(const CUlaunchConfig *, CUfunction, void **, void **);

__attribute__((noinline)) static CUresult launch_ex(launch_ex_function *go,
						    const CUlaunchConfig *config,
						    const struct launch_call *call, uint64_t seq)
{
	RECORDED(call, seq, go(config, call->function, call->params, call->extra));
}

#define LAUNCH_EX(entry, per_thread)                                                            \
	SHIM_HOT SHIM_EXPORT CUresult CUDAAPI entry(const CUlaunchConfig *config, CUfunction f, \
						    void **params, void **extra)                \
	{                                                                                       \
		uint64_t seq;                                                                   \
                                                                                                \
		REAL_OR_RETURN(entry);                                                          \
		if (!config || shim_depth || !recorder_wanted())                                \
			return real.entry(config, f, params, extra);                            \
		seq = launches_pass(                                                            \
			f, (uint32_t[]){config->gridDimX, config->gridDimY, config->gridDimZ},  \
			params, extra);                                                         \
		if (!seq)                                                                       \
			MARKED(real.entry(config, f, params, extra));                           \
		return launch_ex(                                                               \
			real.entry, config,                                                     \
			&(struct launch_call){                                                  \
				.entry_point = #entry,                                          \
				.function = f,                                                  \
				.grid = {config->gridDimX, config->gridDimY, config->gridDimZ}, \
				.block = {config->blockDimX, config->blockDimY,                 \
					  config->blockDimZ},                                   \
				.shared_bytes = config->sharedMemBytes,                         \
				.stream = config->hStream,                                      \
				.per_thread_stream = per_thread,                                \
				.params = params,                                               \
				.extra = extra,                                                 \
				.attributes = config->attrs,                                    \
				.attribute_count = config->attrs ? config->numAttrs : 0,        \
			},                                                                      \
			seq);                                                                   \
	}

LAUNCH_EX(cuLaunchKernelEx, false)
LAUNCH_EX(cuLaunchKernelEx_ptsz, true)
