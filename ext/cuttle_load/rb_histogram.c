/* Cuttle::Load::Histogram: histogram.h for Ruby. Times are Integers of nanoseconds. */
#include "core.h"

static void free_histogram(void *histogram)
{
	ruby_xfree(histogram);
}

static size_t size_of_histogram(const void *histogram)
{
	return sizeof(struct histogram);
}

static const rb_data_type_t TYPE = {
	.wrap_struct_name = "Cuttle::Load::Histogram",
	.function = {.dfree = free_histogram, .dsize = size_of_histogram},
	.flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

static VALUE class_histogram;

static VALUE allocate(VALUE class)
{
	struct histogram *histogram;
	VALUE self = TypedData_Make_Struct(class, struct histogram, &TYPE, histogram);

	histogram_clear(histogram);
	return self;
}

static struct histogram *get(VALUE self)
{
	return rb_check_typeddata(self, &TYPE);
}

VALUE histogram_to_ruby(const struct histogram *from)
{
	VALUE self = allocate(class_histogram);

	histogram_add(get(self), from, 1);
	return self;
}

/* record(nanoseconds) -> self */
static VALUE record(VALUE self, VALUE value)
{
	histogram_record(get(self), NUM2LL(value));
	return self;
}

/* clear -> self: without values, as a new one; a new one takes 264 kB. */
static VALUE clear(VALUE self)
{
	histogram_clear(get(self));
	return self;
}

/* add(other, times = 1) -> self: adds other's values, each +times+ times. Exact, because slots are added. */
static VALUE add(int argc, VALUE *argv, VALUE self)
{
	VALUE other, times;

	rb_scan_args(argc, argv, "11", &other, &times);
	histogram_add(get(self), get(other), NIL_P(times) ? 1 : NUM2ULL(times));
	return self;
}

/* fill(pairs, min, max, sum, squares, clipped) -> self: adds what another histogram's methods of these names
 * returned. */
static VALUE fill(VALUE self, VALUE pairs, VALUE min, VALUE max, VALUE sum, VALUE squares, VALUE clipped)
{
	struct histogram *histogram = get(self);
	long at;

	Check_Type(pairs, T_ARRAY);
	if (RARRAY_LEN(pairs) % 2)
		rb_raise(rb_eArgError, "slots must be pairs of index and count");
	for (at = 0; at < RARRAY_LEN(pairs); at += 2) {
		size_t index = NUM2SIZET(rb_ary_entry(pairs, at));

		if (index >= HISTOGRAM_SLOTS)
			rb_raise(rb_eArgError, "no slot %zu in a histogram", index);
		histogram_fill(histogram, index, NUM2ULL(rb_ary_entry(pairs, at + 1)));
	}
	if (histogram->count) {
		int64_t low = NUM2LL(min), high = NUM2LL(max);

		if (low < histogram->min)
			histogram->min = low;
		if (high > histogram->max)
			histogram->max = high;
	}
	histogram->sum += NUM2LL(sum);
	histogram->squares += NUM2DBL(squares);
	histogram->clipped += NUM2ULL(clipped);
	return self;
}

/* pairs -> [index, count, index, count, …] of the slots in use */
static VALUE pairs(VALUE self)
{
	const struct histogram *histogram = get(self);
	VALUE result = rb_ary_new();
	size_t index;

	for (index = histogram->lowest; histogram->count && index <= histogram->highest; index++) {
		if (!histogram->slots[index])
			continue;
		rb_ary_push(result, SIZET2NUM(index));
		rb_ary_push(result, ULL2NUM(histogram->slots[index]));
	}
	return result;
}

static VALUE count(VALUE self)
{
	return ULL2NUM(get(self)->count);
}

static VALUE clipped(VALUE self)
{
	return ULL2NUM(get(self)->clipped);
}

static VALUE min(VALUE self)
{
	return get(self)->count ? LL2NUM(get(self)->min) : INT2FIX(0);
}

static VALUE max(VALUE self)
{
	return LL2NUM(get(self)->max);
}

static VALUE sum(VALUE self)
{
	return LL2NUM(get(self)->sum);
}

static VALUE squares(VALUE self)
{
	return DBL2NUM(get(self)->squares);
}

static VALUE mean(VALUE self)
{
	return DBL2NUM(histogram_mean(get(self)));
}

static VALUE deviation(VALUE self)
{
	return DBL2NUM(histogram_deviation(get(self)));
}

/* value_at(percentile) -> nanoseconds, by nearest rank; 0 when empty */
static VALUE value_at(VALUE self, VALUE percentile)
{
	double wanted = NUM2DBL(percentile);

	if (!(wanted >= 0 && wanted <= 100))
		rb_raise(rb_eArgError, "a percentile is from 0 to 100, not %f", wanted);
	return LL2NUM(histogram_value_at(get(self), wanted));
}

/* count_to(nanoseconds) -> the number of values up to that, with the precision of a slot */
static VALUE count_to(VALUE self, VALUE value)
{
	return ULL2NUM(histogram_count_to(get(self), NUM2LL(value)));
}

static VALUE index_of(VALUE class, VALUE value)
{
	int64_t wanted = NUM2LL(value);

	if (wanted < 0 || wanted > HISTOGRAM_MAX)
		rb_raise(rb_eArgError, "a histogram holds 0 to %lld ns", (long long)HISTOGRAM_MAX);
	return SIZET2NUM(histogram_index(wanted));
}

static size_t slot(VALUE index)
{
	size_t wanted = NUM2SIZET(index);

	if (wanted >= HISTOGRAM_SLOTS)
		rb_raise(rb_eArgError, "no slot %zu in a histogram", wanted);
	return wanted;
}

static VALUE lowest(VALUE class, VALUE index)
{
	return LL2NUM(histogram_lowest(slot(index)));
}

static VALUE highest(VALUE class, VALUE index)
{
	return LL2NUM(histogram_highest(slot(index)));
}

void init_histogram(VALUE module)
{
	VALUE class = class_histogram = rb_define_class_under(module, "Histogram", rb_cObject);

	rb_define_alloc_func(class, allocate);
	rb_undef_method(class, "initialize_copy");
	rb_define_const(class, "MAX", LL2NUM(HISTOGRAM_MAX));
	rb_define_singleton_method(class, "index", index_of, 1);
	rb_define_singleton_method(class, "lowest", lowest, 1);
	rb_define_singleton_method(class, "highest", highest, 1);
	rb_define_method(class, "record", record, 1);
	rb_define_method(class, "clear", clear, 0);
	rb_define_method(class, "add", add, -1);
	rb_define_method(class, "fill", fill, 6);
	rb_define_method(class, "pairs", pairs, 0);
	rb_define_method(class, "count", count, 0);
	rb_define_method(class, "clipped", clipped, 0);
	rb_define_method(class, "min", min, 0);
	rb_define_method(class, "max", max, 0);
	rb_define_method(class, "sum", sum, 0);
	rb_define_method(class, "squares", squares, 0);
	rb_define_method(class, "mean", mean, 0);
	rb_define_method(class, "deviation", deviation, 0);
	rb_define_method(class, "value_at", value_at, 1);
	rb_define_method(class, "count_to", count_to, 1);
}
