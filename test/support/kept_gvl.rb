# frozen_string_literal: true

require "io/nonblock"

# A thread of the app's own that keeps the GVL, as one can that sorts or searches.
module KeptGvl
  OCTETS = "x" * 1_000_000

  # The function write of the C library, which a thread calls with the GVL; nil: there is no fiddle.
  def self.write
    require "fiddle"
    types = [Fiddle::TYPE_INT, Fiddle::TYPE_VOIDP, Fiddle::TYPE_SIZE_T]
    @write ||= Fiddle::Function.new(Fiddle.dlopen(nil)["write"], types, Fiddle::TYPE_SSIZE_T, need_gvl: true)
  rescue LoadError
    nil
  end

  private

  def need_fiddle
    skip "needs fiddle" unless KeptGvl.write
  end

  # Keeps the GVL until another process has read all OCTETS from the pipe, or closed it.
  def keep_gvl(pipe)
    pipe.nonblock = false
    KeptGvl.write.call(pipe.fileno, OCTETS, OCTETS.bytesize)
  end
end
