/* Cuttle::Roster: what the workers of a cluster tell each other, so that connections are shared evenly. See roster.h. */
#include "cuttle.h"

static void roster_free(void *data)
{
	if (data)
		cuttle_roster_disown(data);
}

static size_t roster_size(const void *data)
{
	const struct cuttle_roster *roster = data;

	return roster ? sizeof *roster + sizeof *roster->shared + roster->room * sizeof *roster->shared->at : 0;
}

static const rb_data_type_t roster_type = {
	.wrap_struct_name = "Cuttle::Roster",
	.function = {.dfree = roster_free, .dsize = roster_size},
	.flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

static VALUE roster_allocate(VALUE class)
{
	return TypedData_Wrap_Struct(class, &roster_type, NULL);
}

static struct cuttle_roster *roster_of(VALUE self)
{
	struct cuttle_roster *roster;

	TypedData_Get_Struct(self, struct cuttle_roster, &roster_type, roster);
	if (!roster)
		rb_raise(rb_eArgError, "uninitialized Cuttle::Roster");
	return roster;
}

struct cuttle_roster *cuttle_roster_for(VALUE roster)
{
	return NIL_P(roster) || !roster_of(roster)->own ? NULL : roster_of(roster);
}

/* call-seq: Roster.new(room)
 *
 * For so many workers, which are forked afterwards. Raises SystemCallError. */
static VALUE roster_initialize(VALUE self, VALUE room)
{
	uint32_t places = NUM2UINT(room);

	if (DATA_PTR(self))
		rb_raise(rb_eArgError, "already initialized");
	if (places == 0 || places > CUTTLE_ROSTER_MOST)
		rb_raise(rb_eArgError, "a roster has 1 to %d places", CUTTLE_ROSTER_MOST);
	DATA_PTR(self) = cuttle_roster_open(places);
	if (!DATA_PTR(self))
		rb_sys_fail("Cuttle::Roster");
	return self;
}

/* call-seq: take(number) -> true or false
 *
 * In a worker, before it makes its source: the place is its own. False where there is none of that number; it serves
 * without one then. */
static VALUE roster_take(VALUE self, VALUE number)
{
	return cuttle_roster_take(roster_of(self), NUM2UINT(number)) ? Qtrue : Qfalse;
}

/* call-seq: clear(number) -> self
 *
 * In the supervisor: whoever had the place is gone. */
static VALUE roster_clear(VALUE self, VALUE number)
{
	cuttle_roster_clear(roster_of(self), NUM2UINT(number));
	return self;
}

/* call-seq: to_a -> Array of [connections, whether one of its threads is free] by place */
static VALUE roster_to_a(VALUE self)
{
	struct cuttle_roster *roster = roster_of(self);
	VALUE places = rb_ary_new_capa(roster->room);

	for (uint32_t number = 0; number < roster->room; number++)
		rb_ary_push(places, rb_assoc_new(UINT2NUM(atomic_load(&roster->shared->at[number].connections)),
						 atomic_load(&roster->shared->at[number].free) ? Qtrue : Qfalse));
	return places;
}

void Init_cuttle_roster(void)
{
	VALUE class = rb_define_class_under(cuttle_module, "Roster", rb_cObject);

	/* Places that a roster can have. */
	rb_define_const(class, "MOST", UINT2NUM(CUTTLE_ROSTER_MOST));
	rb_define_alloc_func(class, roster_allocate);
	rb_define_method(class, "initialize", roster_initialize, 1);
	rb_define_method(class, "take", roster_take, 1);
	rb_define_method(class, "clear", roster_clear, 1);
	rb_define_method(class, "to_a", roster_to_a, 0);
}
