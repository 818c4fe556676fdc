/* Cuttle::Beneath and Cuttle::Beneath::Entry: the Ruby side of beneath.h.
 *
 * What the kernel can answer from memory is done under the GVL, which costs less than releasing it. A call that must
 * wait for a disk releases the GVL. */
#include "beneath.h"
#include "rb_cuttle.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <ruby/io.h>
#include <ruby/thread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef __APPLE__
#define CHANGE_TIME(status) ((status)->st_ctimespec)
#else
#define CHANGE_TIME(status) ((status)->st_ctim)
#endif

/* A younger file may change again without a new time stamp: the clocks of file systems tick up to every 2 s. */
#define SETTLED_AFTER 2 /* seconds */

struct entry {
	int fd; /* -1 for a directory, and after close or hand_over */
	struct stat status;
};

static VALUE entry_class;

static void beneath_release(void *pointer)
{
	cuttle_beneath_free(pointer);
	ruby_xfree(pointer);
}

static const rb_data_type_t beneath_type = {
	.wrap_struct_name = "Cuttle::Beneath",
	.function = {.dfree = beneath_release},
	.flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

static void entry_release(void *pointer)
{
	struct entry *entry = pointer;

	if (entry->fd >= 0)
		close(entry->fd);
	ruby_xfree(entry);
}

static size_t entry_size(const void *pointer)
{
	return sizeof(struct entry);
}

static const rb_data_type_t entry_type = {
	.wrap_struct_name = "Cuttle::Beneath::Entry",
	.function = {.dfree = entry_release, .dsize = entry_size},
	.flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

static struct cuttle_beneath *beneath_of(VALUE self)
{
	struct cuttle_beneath *beneath = rb_check_typeddata(self, &beneath_type);

	if (!beneath->root)
		rb_raise(rb_eArgError, "Beneath without a root");
	return beneath;
}

static struct entry *entry_of(VALUE self)
{
	return rb_check_typeddata(self, &entry_type);
}

static VALUE beneath_allocate(VALUE class)
{
	struct cuttle_beneath *beneath;
	VALUE self = TypedData_Make_Struct(class, struct cuttle_beneath, &beneath_type, beneath);

	beneath->fd = -1;
	return self;
}

/* call-seq: Beneath.new(root, portable)
 *
 * root is a directory. portable: open name by name even if the kernel could do it in one call. Raises SystemCallError
 * if root can't be opened. */
static VALUE beneath_initialize(VALUE self, VALUE root, VALUE portable)
{
	struct cuttle_beneath *beneath = rb_check_typeddata(self, &beneath_type);
	VALUE name = rb_file_expand_path(rb_get_path(root), Qnil);
	int error;

	cuttle_beneath_free(beneath);
	error = cuttle_beneath_init(beneath, RSTRING_PTR(name), RTEST(portable));
	if (error)
		rb_syserr_fail_str(-error, name);
	RB_GC_GUARD(name);
	return self;
}

/* call-seq: way -> :openat2 or :walk, how files are opened */
static VALUE beneath_way(VALUE self)
{
	return ID2SYM(rb_intern(beneath_of(self)->way == CUTTLE_BENEATH_WALK ? "walk" : "openat2"));
}

struct open_call {
	const struct cuttle_beneath *beneath;
	struct entry *entry;
	int error;
	char path[CUTTLE_BENEATH_PATH];
};

/* Returns false for a name that is too long or has a NUL, as no file has such a name. */
static bool take_path(struct open_call *call, VALUE path)
{
	size_t length;

	Check_Type(path, T_STRING);
	length = (size_t)RSTRING_LEN(path);
	if (length >= sizeof call->path || memchr(RSTRING_PTR(path), 0, length))
		return false;
	memcpy(call->path, RSTRING_PTR(path), length);
	call->path[length] = 0;
	return true;
}

static void *open_waiting(void *pointer)
{
	struct open_call *call = pointer;

	call->error = cuttle_beneath_open(call->beneath, call->path, true, &call->entry->fd, &call->entry->status);
	return NULL;
}

/* Whether the error concerns the server or its disk, not the path. */
static bool is_failure(int error)
{
	switch (error) {
	/* clang-format off */
	case -EMFILE: case -ENFILE: case -ENOMEM: case -EIO: case -EAGAIN: case -EBADF: case -ESTALE:
		return true;
	/* clang-format on */
	default:
		return false;
	}
}

/* call-seq: open(path) -> Entry or nil
 *
 * Opens the regular file or directory at path (decoded, relative to the root). Returns nil if there is nothing to
 * serve: it is missing, unreadable, a device, or outside. Raises SystemCallError if the server is at its limits
 * (Errno::EMFILE) or its disk fails. */
static VALUE beneath_open(VALUE self, VALUE path)
{
	struct open_call call = {.beneath = beneath_of(self)};
	VALUE entry;

	if (!take_path(&call, path))
		return Qnil;
	entry = TypedData_Make_Struct(entry_class, struct entry, &entry_type, call.entry);
	call.entry->fd = -1;
	call.error = cuttle_beneath_refresh(beneath_of(self));
	if (!call.error)
		call.error = cuttle_beneath_open(call.beneath, call.path, false, &call.entry->fd, &call.entry->status);
	if (call.error == -EAGAIN)
		rb_thread_call_without_gvl(open_waiting, &call, RUBY_UBF_IO, NULL);
	RB_GC_GUARD(self);
	if (is_failure(call.error))
		rb_syserr_fail(-call.error, "static file");
	return call.error ? Qnil : entry;
}

/* call-seq: directory? -> true or false; if false, it is a regular file */
static VALUE entry_is_directory(VALUE self)
{
	return RBOOL(S_ISDIR(entry_of(self)->status.st_mode));
}

/* call-seq: size -> Integer, the file's octets when it was opened */
static VALUE entry_length(VALUE self)
{
	return OFFT2NUM(entry_of(self)->status.st_size);
}

/* call-seq: modified -> Integer, when the content was last changed: seconds since 1970, never later than now */
static VALUE entry_modified(VALUE self)
{
	time_t now = time(NULL), modified = entry_of(self)->status.st_mtime;

	return TIMET2NUM(modified > now ? now : modified);
}

/* call-seq: stamp -> String
 *
 * Identifies the file's state, as hexadecimal digits and "-": inode, length, and the time of change, which the kernel
 * keeps and which nobody can set, unlike the modification time. */
static VALUE entry_stamp(VALUE self)
{
	const struct stat *status = &entry_of(self)->status;
	uint64_t changed = (uint64_t)CHANGE_TIME(status).tv_sec * 1000000000 + (uint64_t)CHANGE_TIME(status).tv_nsec;

	return rb_sprintf("%" PRIx64 "-%" PRIx64 "-%" PRIx64, (uint64_t)status->st_ino, (uint64_t)status->st_size,
			  changed);
}

/* call-seq: settled? -> true or false
 *
 * Whether the last change is old enough that another one would change the stamp. */
static VALUE entry_is_settled(VALUE self)
{
	const struct stat *status = &entry_of(self)->status;
	time_t last = status->st_ctime > status->st_mtime ? status->st_ctime : status->st_mtime;

	return RBOOL(time(NULL) - last > SETTLED_AFTER);
}

/* call-seq: entry == other -> true or false, whether both describe the same file in the same state */
static VALUE entry_equal(VALUE self, VALUE other)
{
	const struct stat *a = &entry_of(self)->status, *b;

	if (!rb_typeddata_is_kind_of(other, &entry_type))
		return Qfalse;
	b = &entry_of(other)->status;
	return RBOOL(a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
		     a->st_mode == b->st_mode && a->st_mtime == b->st_mtime &&
		     CHANGE_TIME(a).tv_sec == CHANGE_TIME(b).tv_sec &&
		     CHANGE_TIME(a).tv_nsec == CHANGE_TIME(b).tv_nsec);
}

struct read_call {
	int fd;
	char *bytes;
	size_t length;
	off_t offset;
	ssize_t result;
};

static void *read_waiting(void *pointer)
{
	struct read_call *call = pointer;

	call->result = cuttle_beneath_read(call->fd, call->bytes, call->length, call->offset, true);
	return NULL;
}

static int open_descriptor(const struct entry *entry)
{
	if (entry->fd < 0)
		rb_raise(rb_eIOError, "not an open file");
	return entry->fd;
}

static VALUE read_part(const struct entry *entry, off_t offset, size_t length)
{
	struct read_call call = {.fd = open_descriptor(entry), .length = length, .offset = offset};
	VALUE string;

	if (length > LONG_MAX || offset < 0)
		rb_raise(rb_eRangeError, "no part of a file");
	string = rb_str_new(NULL, (long)length);
	call.bytes = RSTRING_PTR(string);
	call.result = cuttle_beneath_read(call.fd, call.bytes, length, offset, false);
	if (call.result < (ssize_t)length)
		rb_thread_call_without_gvl(read_waiting, &call, RUBY_UBF_IO, NULL);
	if (call.result < 0)
		rb_syserr_fail((int)-call.result, "static file");
	if (call.result < (ssize_t)length)
		rb_str_set_len(string, (long)call.result);
	return string;
}

/* call-seq: read(offset, length) -> String
 *
 * Returns that part of the file, binary; shorter if the file ends earlier. Raises IOError if the file is not open. */
static VALUE entry_read(VALUE self, VALUE offset, VALUE length)
{
	VALUE string = read_part(entry_of(self), NUM2OFFT(offset), NUM2SIZET(length));

	RB_GC_GUARD(self);
	return string;
}

/* call-seq: hand_over -> IO, the open file; the caller closes it */
static VALUE entry_hand_over(VALUE self)
{
	struct entry *entry = entry_of(self);
	VALUE io = rb_io_fdopen(open_descriptor(entry), O_RDONLY, NULL);

	entry->fd = -1;
	return io;
}

/* call-seq: close
 *
 * Closes the file unless it was handed over. It may be called again. */
static VALUE entry_close(VALUE self)
{
	struct entry *entry = entry_of(self);
	int fd = entry->fd;

	entry->fd = -1;
	if (fd >= 0)
		close(fd);
	return Qnil;
}

void Init_cuttle_beneath(void)
{
	VALUE beneath = rb_define_class_under(cuttle_module, "Beneath", rb_cObject);

	rb_define_alloc_func(beneath, beneath_allocate);
	rb_define_method(beneath, "initialize", beneath_initialize, 2);
	rb_define_method(beneath, "open", beneath_open, 1);
	rb_define_method(beneath, "way", beneath_way, 0);

	entry_class = rb_define_class_under(beneath, "Entry", rb_cObject);
	rb_undef_alloc_func(entry_class);
	rb_define_method(entry_class, "directory?", entry_is_directory, 0);
	rb_define_method(entry_class, "size", entry_length, 0);
	rb_define_method(entry_class, "modified", entry_modified, 0);
	rb_define_method(entry_class, "stamp", entry_stamp, 0);
	rb_define_method(entry_class, "settled?", entry_is_settled, 0);
	rb_define_method(entry_class, "==", entry_equal, 1);
	rb_define_method(entry_class, "read", entry_read, 2);
	rb_define_method(entry_class, "hand_over", entry_hand_over, 0);
	rb_define_method(entry_class, "close", entry_close, 0);
}
