/* Cuttle::Load's native half: the entry point. */
#include "core.h"

VALUE option(VALUE hash, const char *key)
{
	VALUE value = rb_hash_lookup2(hash, ID2SYM(rb_intern(key)), Qundef);

	if (value == Qundef)
		rb_raise(rb_eArgError, "missing: %s", key);
	return value;
}

__attribute__((visibility("default"))) void Init_core(void)
{
	VALUE load = rb_define_module_under(rb_define_module("Cuttle"), "Load");

	init_histogram(load);
	init_orphans(load);
	init_parts(load);
	init_run(load);
	init_server(load);
}
