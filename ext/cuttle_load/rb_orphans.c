/* Cuttle::Load::Orphans: processes that lost their parent. */
#include "core.h"
#include <sys/prctl.h>

/*
 * adopt -> nil: from now on, makes this process, instead of init, the parent of descendants that lose their parent
 * (prctl(2), PR_SET_CHILD_SUBREAPER). Raises SystemCallError.
 */
static VALUE adopt(VALUE module)
{
	if (prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL) < 0)
		rb_sys_fail("prctl");
	return Qnil;
}

void init_orphans(VALUE module)
{
	rb_define_module_function(rb_define_module_under(module, "Orphans"), "adopt", adopt, 0);
}
