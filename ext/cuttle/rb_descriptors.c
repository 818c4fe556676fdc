/* Cuttle::Descriptors: another file behind a descriptor, while threads use it. */
#include "rb_cuttle.h"
#include <errno.h>
#include <unistd.h>

/* call-seq: Descriptors.replace(number, by) -> nil
 *
 * Makes descriptor +number+ another name of the descriptor +by+ (dup2(2)). A thread that writes meanwhile writes to the
 * one file or to the other. (IO#reopen does the same, and raises IOError in such a thread.) Raises SystemCallError. */
static VALUE descriptors_replace(VALUE self, VALUE number, VALUE by)
{
	int from = NUM2INT(by), to = NUM2INT(number);

	while (dup2(from, to) < 0) {
		if (errno != EINTR && errno != EBUSY)
			rb_sys_fail("dup2");
	}
	return Qnil;
}

void Init_cuttle_descriptors(void)
{
	VALUE module = rb_define_module_under(cuttle_module, "Descriptors");

	rb_define_singleton_method(module, "replace", descriptors_replace, 2);
}
