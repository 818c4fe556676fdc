/* Cuttle::Orphans: lets the supervisor wait for workers that its children forked. */
#include "rb_cuttle.h"

#ifdef __linux__
#include <sys/prctl.h>
#endif

/* call-seq: Orphans.adopt -> true or false
 *
 * Makes this process the parent of each descendant whose own parent ends (prctl(2), PR_SET_CHILD_SUBREAPER). This
 * survives exec; children don't inherit it. Returns false if the system can't do it. */
static VALUE orphans_adopt(VALUE self)
{
#ifdef PR_SET_CHILD_SUBREAPER
	return RBOOL(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
#else
	return Qfalse;
#endif
}

void Init_cuttle_orphans(void)
{
	VALUE module = rb_define_module_under(cuttle_module, "Orphans");

	rb_define_singleton_method(module, "adopt", orphans_adopt, 0);
}
