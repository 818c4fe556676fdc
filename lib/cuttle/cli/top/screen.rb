# frozen_string_literal: true

require "io/console"

module Cuttle
  class CLI
    class Top
      # The terminal of `cuttle top`: its alternate screen, without a cursor, which reports each key when it is pressed.
      # Once .open has returned or raised, the terminal is as it was before, and also while the program is suspended
      # (Ctrl-Z).
      class Screen
        ENTER = "\e[?1049h\e[?25l"
        LEAVE = "\e[?25h\e[?1049l"
        HOME = "\e[H"
        TO_LINE_END = "\e[K"
        TO_SCREEN_END = "\e[J"

        # The size of a terminal that does not report one.
        SIZE = [24, 80].freeze

        QUIT = ["q", "Q", "\u0003", "\u0004"].freeze

        # Takes the terminal for the time of the block, which gets the Screen.
        def self.open(out, keys: $stdin)
          screen = new(out, keys)
          screen.enter
          yield screen
        ensure
          screen&.leave
          screen&.close
        end

        def initialize(out, keys)
          @out = out
          @keys = keys if keys.respond_to?(:tty?) && keys.tty?
          @reader, @writer = IO.pipe
          @traps = { "WINCH" => notify("w"), "TSTP" => notify("z") }.filter_map { |name, block| heed(name, block) }.to_h
        end

        # Takes the terminal.
        def enter
          @entered = true
          @mode = @keys&.console_mode
          @keys&.raw!(intr: true)
          @out.print(ENTER)
          @out.flush
        end

        # Gives it back.
        def leave
          return unless @entered

          @entered = false
          @out.print(LEAVE)
          @out.flush
        rescue SystemCallError, IOError
          nil # the terminal has gone
        ensure
          give_back_keys
        end

        # Gives up the signals and descriptors.
        def close
          @traps.each { |name, before| trap(name, before || "DEFAULT") }
          [@reader, @writer].each(&:close)
        end

        # Draws the lines that the block returns for a width and a height.
        def draw
          height, width = size
          lines = yield(width, height)
          @out.print(HOME, lines.map { |line| "#{line}#{TO_LINE_END}" }.join("\r\n"), TO_SCREEN_END)
          @out.flush
        end

        # Waits at most that many seconds. Returns :quit after a key that quits, :resize if the screen must be drawn
        # again, and :time when the time is over.
        def wait(seconds)
          @until = Cuttle.now + seconds if @until.nil? || @until <= Cuttle.now
          ready, = IO.select([@reader, @keys].compact, nil, nil, [@until - Cuttle.now, 0].max)
          return :time unless ready

          return signalled if ready.include?(@reader)

          key = @keys.read_nonblock(16, exception: false)
          key.nil? || (key.is_a?(String) && key.chars.intersect?(QUIT)) ? :quit : :resize
        rescue Errno::EIO
          :quit # the terminal has gone
        end

        private

        # [name, what was done before]; nil where Ruby can't take the signal (JRuby).
        def heed(name, block)
          [name, trap(name, &block)]
        rescue ArgumentError
          nil
        end

        def notify(letter)
          ->(_) { @writer.write_nonblock(letter, exception: false) }
        end

        def signalled
          suspend if @reader.read_nonblock(64).include?("z")
          :resize
        end

        def suspend
          leave
          ours = trap("TSTP", "DEFAULT")
          Process.kill("TSTP", Process.pid)
          trap("TSTP", ours)
          enter
        end

        def give_back_keys
          @keys.console_mode = @mode if @mode
        rescue SystemCallError, IOError
          nil
        end

        def size
          found = @out.winsize
          found.all?(&:positive?) ? found : SIZE
        rescue SystemCallError, NoMethodError
          SIZE
        end
      end
    end
  end
end
