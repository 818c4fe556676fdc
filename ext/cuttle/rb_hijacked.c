/* Cuttle::Hijacked: the sockets that the app of a server has taken over; see hijacked.h. */
#include "rb_hijacked.h"

#include <ruby/thread.h>

static void hijacked_free(void *data)
{
	if (data)
		cuttle_hijacked_disown(data);
}

static const rb_data_type_t hijacked_type = {
	.wrap_struct_name = "Cuttle::Hijacked",
	.function = {.dfree = hijacked_free},
	.flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_FROZEN_SHAREABLE,
};

static VALUE hijacked_allocate(VALUE class)
{
	VALUE self = TypedData_Wrap_Struct(class, &hijacked_type, NULL);

	DATA_PTR(self) = cuttle_hijacked_open();
	if (!DATA_PTR(self))
		rb_memerror();
	return self;
}

struct cuttle_hijacked *cuttle_hijacked_of(VALUE object)
{
	return rb_check_typeddata(object, &hijacked_type);
}

/* call-seq: count -> Integer
 *
 * How many of the sockets are open. It checks each one, which takes about a third of a microsecond per socket. */
static VALUE hijacked_count(VALUE self)
{
	return SIZET2NUM(cuttle_hijacked_count(cuttle_hijacked_of(self)));
}

static void *part(void *list)
{
	return (void *)cuttle_hijacked_part(list);
}

/* call-seq: part -> Integer
 *
 * Sends a Close frame (1001) on each WebSocket on which the app is silent, and shuts it down. Doesn't wait. Returns how
 * many are not done, because the app sends or has not closed its socket yet. Call it at the end of the process, every
 * few milliseconds. */
static VALUE hijacked_part(VALUE self)
{
	return SIZET2NUM((size_t)rb_thread_call_without_gvl(part, cuttle_hijacked_of(self), NULL, NULL));
}

/* call-seq: told -> [Integer, Integer]
 *
 * How many WebSockets got a Close frame, and how many got none. */
static VALUE hijacked_told(VALUE self)
{
	size_t untold, told = cuttle_hijacked_told(cuttle_hijacked_of(self), &untold);

	return rb_assoc_new(SIZET2NUM(told), SIZET2NUM(untold));
}

void Init_cuttle_hijacked(void)
{
	VALUE class = rb_define_class_under(cuttle_module, "Hijacked", rb_cObject);

	/* Whether this system can say when a Close frame may be sent. */
	rb_define_const(class, "TELLS", RBOOL(CUTTLE_HIJACKED_TOLD));
	rb_define_alloc_func(class, hijacked_allocate);
	rb_define_method(class, "count", hijacked_count, 0);
	rb_define_method(class, "part", hijacked_part, 0);
	rb_define_method(class, "told", hijacked_told, 0);
}
