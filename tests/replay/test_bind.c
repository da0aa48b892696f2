/* SPDX-License-Identifier: MIT */
/* A recorded launch bound to an image of another Triton version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "drv/entries.h"
#include "kernelab/dtype.h"
#include "lib/base.h"
#include "replay/bind.h"

/* k(X, Y, n) of Triton 3.2 (no hidden arguments) and of 3.6 (two of them). */
static struct record_arg args[] = {
	{.name = "X", .type = "!tt.ptr<f32>", .dtype = DTYPE_F32, .pointer = true},
	{.name = "Y", .type = "!tt.ptr<bf16>", .dtype = DTYPE_BF16, .pointer = true},
	{.name = "n", .type = "i32", .dtype = DTYPE_I32},
};
/* The same with n first. */
static struct record_arg moved_args[] = {
	{.name = "n", .type = "i32", .dtype = DTYPE_I32},
	{.name = "X", .type = "!tt.ptr<f32>", .dtype = DTYPE_F32, .pointer = true},
	{.name = "Y", .type = "!tt.ptr<bf16>", .dtype = DTYPE_BF16, .pointer = true},
};
static struct record_param old_layout[] = {{0, 8}, {8, 8}, {16, 4}};
static struct record_param new_layout[] = {{0, 4}, {8, 8}, {16, 8}, {24, 8}, {32, 8}};
static struct signature old_signature = {.entry = "k", .args = args, .arg_count = 3};
static struct signature new_signature = {.entry = "k", .args = moved_args, .arg_count = 3};
static struct triton_kernel old_triton, new_triton;
static struct record_kernel old_kernel, new_kernel;
static struct record_image old_image = {.id = {1, 1}}, new_image = {.id = {2, 2}};
static struct suite_member old_member, new_member;
static struct record_region region = {
	.base = 0x10000, .size = 0x10000, .memory = MEMORY_ALLOCATION};
static uint8_t params[20];
static struct record_launch launch;

static int setup(void **state)
{
	uint64_t x = 0x10100, y = 0x12000;
	int32_t n = 781;

	memcpy(params, &x, 8);
	memcpy(params + 8, &y, 8);
	memcpy(params + 16, &n, 4);
	launch = (struct record_launch){.seq = 3,
					.grid = {5, 2, 1},
					.block = {128, 1, 1},
					.shared_bytes = 64,
					.params = {params, sizeof(params)},
					.shape_class = {9, 9}};
	launch.regions.items = &region;
	launch.regions.count = 1;
	old_triton = (struct triton_kernel){
		.signature = &old_signature, .num_warps = 4, .num_ctas = 1, .warp_size = 32};
	new_triton = (struct triton_kernel){
		.signature = &new_signature,
		.num_warps = 4, /* warp-specialised: 4 more work beside them */
		.total_warps = 8,
		.num_ctas = 2,
		.warp_size = 32,
		.shared_bytes = 100000,
		.has_global_scratch = true,
		.has_profile_scratch = true,
		.global_scratch_bytes = 128};
	old_kernel.params.items = old_layout;
	old_kernel.params.count = 3;
	new_kernel.params.items = new_layout;
	new_kernel.params.count = 5;
	old_member = (struct suite_member){
		.image = &old_image, .kernel = &old_kernel, .entry = "k", .triton = &old_triton};
	new_member = (struct suite_member){
		.image = &new_image, .kernel = &new_kernel, .entry = "k", .triton = &new_triton};
	return 0;
}

static uint64_t word(const struct bound *b, uint32_t offset, size_t size)
{
	uint64_t v = 0;

	memcpy(&v, b->params + offset, size);
	return v;
}

static void binds_by_name_and_type(void **state)
{
	struct bound b;
	struct error err;

	assert_int_equal(bound_make(&b, NULL, &launch, &old_member, &new_member, NULL, &err), 0);
	assert_int_equal(b.params_bytes, 40);
	assert_int_equal(word(&b, 0, 4), 781);
	assert_int_equal(word(&b, 8, 8), 0x10100);
	assert_int_equal(word(&b, 16, 8), 0x12000);
	assert_int_equal(word(&b, 24, 8), 0);
	assert_int_equal(b.scratch_count, 1); /* profile scratch has no size */
	assert_int_equal(b.scratch[0].offset, 24);
	assert_int_equal(b.scratch[0].bytes, 128 * 10 * 2);
	/* geometry from metadata: B was never launched */
	assert_int_equal(b.grid[0], 5);
	assert_int_equal(b.grid[1], 2);
	assert_int_equal(b.block[0], 256);
	assert_int_equal(b.shared_bytes, 100000);
	assert_int_equal(b.attribute_count, 1);
	assert_int_equal(b.attributes[0].id, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
	assert_int_equal(b.attributes[0].value[0], 2);
	assert_true(b.note[0]);
	bound_free(&b);
}

/* Triton before 3.5 calls them arg0, arg1 …: then the position tells, on either side. */
static void binds_nameless_by_position(void **state)
{
	static struct record_arg nameless[] = {
		{.name = "arg0", .type = "!tt.ptr<f32>", .dtype = DTYPE_F32, .pointer = true},
		{.name = "arg1", .type = "!tt.ptr<bf16>", .dtype = DTYPE_BF16, .pointer = true},
		{.name = "arg2", .type = "i32", .dtype = DTYPE_I32},
	};
	static struct signature without = {.entry = "k", .args = nameless, .arg_count = 3};
	static struct record_param layout[] = {{0, 8}, {8, 8}, {16, 4}, {24, 8}, {32, 8}};
	struct bound b;
	struct error err;

	new_triton.signature = &without;
	new_kernel.params.items = layout;
	assert_int_equal(bound_make(&b, NULL, &launch, &old_member, &new_member, NULL, &err), 0);
	assert_int_equal(word(&b, 0, 8), 0x10100);
	assert_int_equal(word(&b, 8, 8), 0x12000);
	assert_int_equal(word(&b, 16, 4), 781);
	bound_free(&b);
	/* Another order has other types at the positions: that is refused. */
	new_triton.signature = &new_signature;
	old_triton.signature = &without;
	new_kernel.params.items = new_layout;
	assert_int_equal(bound_make(&b, NULL, &launch, &old_member, &new_member, NULL, &err),
			 -EINVAL);
}

static void takes_geometry_from_own_launches(void **state)
{
	uint32_t cluster[3] = {4, 1, 1};
	struct record_attribute attributes[] = {
		{.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value = {cluster, 12}},
		{.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, .value = {cluster, 12}}};
	struct record_launch other = {.block = {64, 1, 1}, .shared_bytes = 8},
			     same = {.block = {512, 1, 1},
				     .shared_bytes = 16,
				     .shape_class = {9, 9}};
	const struct record_launch *list[] = {&other, &same};
	struct bound b;
	struct error err;

	same.attributes.items = attributes;
	same.attributes.count = 2;
	new_member.launches = list;
	new_member.launch_count = 2;
	assert_int_equal(bound_make(&b, NULL, &launch, &old_member, &new_member, NULL, &err), 0);
	assert_int_equal(b.block[0], 512);
	assert_int_equal(b.shared_bytes, 16);
	assert_int_equal(b.attribute_count, 1); /* the event belongs to another process */
	assert_int_equal(b.attributes[0].value[0], 4);
	bound_free(&b);
}

static void the_recorded_image_is_bound_as_recorded(void **state)
{
	struct bound b;
	struct error err;

	assert_int_equal(bound_make(&b, NULL, &launch, &old_member, &old_member, NULL, &err), 0);
	assert_int_equal(b.params_bytes, sizeof(params));
	assert_memory_equal(b.params, params, sizeof(params));
	assert_int_equal(b.block[0], 128);
	assert_int_equal(b.scratch_count, 0);
	bound_free(&b);
}

static void says_what_does_not_fit(void **state)
{
	struct record_arg other_type = moved_args[1];
	struct bound b;
	struct error err;

	moved_args[1].type = "!tt.ptr<f16>";
	assert_int_equal(bound_make(&b, NULL, &launch, &old_member, &new_member, NULL, &err),
			 -EINVAL);
	assert_non_null(strstr(err.message, "argument X"));
	moved_args[1] = other_type;
	launch.params.size = 12;
	assert_int_equal(bound_make(&b, NULL, &launch, &old_member, &new_member, NULL, &err),
			 -EINVAL);
	assert_non_null(strstr(err.message, "launch 3"));
	launch.params.size = sizeof(params);
	new_member.triton = NULL; /* no names, other layout */
	new_member.launch_count = 0;
	assert_int_equal(bound_make(&b, NULL, &launch, &old_member, &new_member, NULL, &err),
			 -EINVAL);
	new_layout[0].size = 0xffffffff;
	new_member.triton = &new_triton;
	assert_int_equal(bound_make(&b, NULL, &launch, &old_member, &new_member, NULL, &err),
			 -EINVAL);
	new_layout[0].size = 4;
}

static void finds_pointers_and_text(void **state)
{
	struct pointer *p;
	size_t n;
	_cleanup_free_ char *text = launch_params_text(&launch, &old_member);

	assert_int_equal(
		launch_pointers(&p, &n, NULL, &launch, &old_member, 0x2, false, DTYPE_UNKNOWN), 0);
	assert_int_equal(n, 2);
	assert_int_equal(p[0].address, 0x10100);
	assert_int_equal(p[0].arg, 1);
	assert_false(p[0].stored);
	assert_int_equal(p[1].address, 0x12000);
	assert_int_equal(p[1].arg, 2);
	assert_int_equal(p[1].dtype, DTYPE_BF16);
	assert_int_equal(p[1].limit, 0x20000);
	assert_true(p[1].stored);
	free(p);
	assert_string_equal(text, "X=0x10100 Y=0x12000 n=781");
}

/* Outputs behind a table of pointers, and those of arguments without a type. */
static void outputs_get_the_stored_type(void **state)
{
	uint64_t words[2] = {0x30000, 0x40000}, wrote[2] = {64, 256}, offset[2] = {0, 8};
	struct record_param layout[] = {{0, 8}, {8, 8}};
	struct record_region regions[] = {
		{.base = 0x30000, .size = 4096, .param_offsets = {&offset[0], 1}},
		{.base = 0x40000,
		 .size = 4096,
		 .param_offsets = {&offset[1], 1},
		 .writes = {wrote, 2}},
		{.base = 0x50000, .size = 4096, .writes = {wrote, 2}},
		{.base = 0x60000, .size = 4096},
		{.base = 0x123,
		 .size = 64,
		 .memory = MEMORY_GLOBAL,
		 .name = "acc",
		 .dtype = DTYPE_I32},
	};
	struct record_launch l = {
		.measured = true, .params = {words, sizeof(words)}, .regions = {regions, 5}};
	struct record_kernel kernel = {.params = {layout, 2}};
	struct suite_member m = {.image = &old_image, .kernel = &kernel, .entry = "k"};
	struct pointer *p;
	size_t n;

	assert_int_equal(launch_pointers(&p, &n, NULL, &l, &m, 0, true, DTYPE_F16), 0);
	assert_int_equal(n, 4);
	assert_int_equal(p[0].dtype, DTYPE_UNKNOWN); /* not written */
	assert_int_equal(p[1].address, 0x40000);
	assert_int_equal(p[1].dtype, DTYPE_F16);
	assert_int_equal(p[2].address, 0x50000);
	assert_int_equal(p[2].dtype, DTYPE_F16);
	assert_int_equal(p[2].limit, 0x51000);
	assert_true(p[2].stored);
	assert_int_equal(p[3].address, STAND_IN_BASE + 0x123);
	assert_int_equal(p[3].dtype, DTYPE_I32);
	free(p);
	l.measured = false; /* then the code must tell */
	assert_int_equal(launch_pointers(&p, &n, NULL, &l, &m, 0, true, DTYPE_F16), 0);
	assert_int_equal(n, 3);
	assert_int_equal(p[1].dtype, DTYPE_UNKNOWN);
	free(p);
	assert_int_equal(launch_pointers(&p, &n, NULL, &l, &m, 2, false, DTYPE_F16), 0);
	assert_int_equal(p[0].dtype, DTYPE_UNKNOWN);
	assert_int_equal(p[1].dtype, DTYPE_F16);
	free(p);
}

static void a_descriptor_leads_to_its_tensor(void **state)
{
	uint8_t bytes[132] = {1, 2, 3};
	struct record_param layout[] = {{0, 128}, {128, 4}};
	struct record_tensor_map map = {.descriptor = {bytes, 128}, .address = 0x14000};
	struct bundle bundle = {0};
	struct record_kernel kernel = {0};
	struct suite_member m = {.image = &old_image, .kernel = &kernel, .entry = "k"};
	struct pointer *p;
	size_t n;

	bundle.tensor_maps.items = &map;
	bundle.tensor_maps.count = 1;
	kernel.params.items = layout;
	kernel.params.count = 2;
	launch.params = (struct bytes){bytes, sizeof(bytes)};
	assert_int_equal(launch_pointers(&p, &n, &bundle, &launch, &m, 1, false, DTYPE_UNKNOWN), 0);
	assert_int_equal(n, 1);
	assert_int_equal(p[0].address, 0x14000);
	assert_true(p[0].stored);
	free(p);
}

/* B was compiled for another box: its descriptor is encoded anew on the recorded tensor. */
static void another_box_is_encoded_anew(void **state)
{
	uint8_t a_bytes[128] = {1}, b_bytes[128] = {2};
	uint64_t dims[] = {256, 64}, strides[] = {512}, a_box[] = {64, 32}, b_box[] = {32, 32},
		 steps[] = {1, 1};
	struct record_param layout[] = {{0, 128}};
	struct record_tensor_map a_map = {.descriptor = {a_bytes, 128},
					  .address = 0x14000,
					  .dims = {dims, 2},
					  .strides_bytes = {strides, 1},
					  .box = {a_box, 2},
					  .element_strides = {steps, 2}},
				 b_map = a_map;
	struct bundle a_bundle = {0}, b_bundle = {0};
	struct record_kernel kernel = {0};
	struct suite_member a = {.image = &old_image, .kernel = &kernel, .entry = "k"}, b = a;
	struct record_launch own = {.block = {64, 1, 1}, .params = {b_bytes, 128}};
	const struct record_launch *list[] = {&own};
	struct bound bound;
	struct error err;

	b_map.descriptor.data = b_bytes;
	b_map.address = 0x99000;
	b_map.box.items = b_box;
	a_bundle.tensor_maps.items = &a_map;
	b_bundle.tensor_maps.items = &b_map;
	a_bundle.tensor_maps.count = b_bundle.tensor_maps.count = 1;
	kernel.params.items = layout;
	kernel.params.count = 1;
	launch.params = (struct bytes){a_bytes, 128};
	b.image = &new_image;
	b.launches = list;
	b.launch_count = 1;
	assert_int_equal(bound_make(&bound, &a_bundle, &launch, &a, &b, &b_bundle, &err), 0);
	assert_memory_equal(bound.params, a_bytes, 128);
	assert_int_equal(bound.descriptor_count, 1);
	assert_ptr_equal(bound.descriptors[0].tensor, &a_map);
	assert_ptr_equal(bound.descriptors[0].shape, &b_map);
	bound_free(&bound);
	b_map.box.items = a_box; /* the same shape: the recorded bytes serve */
	assert_int_equal(bound_make(&bound, &a_bundle, &launch, &a, &b, &b_bundle, &err), 0);
	assert_int_equal(bound.descriptor_count, 0);
	bound_free(&bound);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(binds_by_name_and_type, setup),
		cmocka_unit_test_setup(binds_nameless_by_position, setup),
		cmocka_unit_test_setup(takes_geometry_from_own_launches, setup),
		cmocka_unit_test_setup(the_recorded_image_is_bound_as_recorded, setup),
		cmocka_unit_test_setup(says_what_does_not_fit, setup),
		cmocka_unit_test_setup(finds_pointers_and_text, setup),
		cmocka_unit_test_setup(outputs_get_the_stored_type, setup),
		cmocka_unit_test_setup(a_descriptor_leads_to_its_tensor, setup),
		cmocka_unit_test_setup(another_box_is_encoded_anew, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
