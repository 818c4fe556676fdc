# frozen_string_literal: true

require "test_helper"

# RFC 9112, 7.1: the chunked coding, octet by octet. Cases 69 to 88.
class TestChunks < HttpCase
  def test_a_chunked_body_is_decoded
    seen, = assert_served(chunked("5\r\nhello\r\n6;a=b;c=\"d\\\"e\"\r\n world\r\n0\r\n\r\n"))
    assert_equal "hello world", seen.body
  end

  def test_case_069_no_hexadecimal_size
    assert_refused chunked("G\r\nhello\r\n0\r\n\r\n")
  end

  def test_no_size_at_all
    assert_refused chunked("\r\nhello\r\n0\r\n\r\n")
    assert_refused chunked(";a\r\nhello\r\n0\r\n\r\n")
  end

  def test_case_070_hexadecimal_prefix
    assert_refused chunked("0x5\r\nhello\r\n0\r\n\r\n")
  end

  def test_case_071_plus_sign
    assert_refused chunked("+5\r\nhello\r\n0\r\n\r\n")
  end

  def test_case_072_negative
    assert_refused chunked("-5\r\nhello\r\n0\r\n\r\n")
  end

  def test_case_073_leading_space
    assert_refused chunked(" 5\r\nhello\r\n0\r\n\r\n")
  end

  def test_case_074_trailing_space
    assert_refused chunked("5 \r\nhello\r\n0\r\n\r\n")
    assert_refused chunked("5\r\nhello\r\n0 \r\n\r\n")
  end

  def test_case_075_underscore_among_the_digits
    assert_refused chunked("5_0\r\n#{"x" * 0x50}\r\n0\r\n\r\n")
  end

  def test_case_076_more_than_64_bits
    assert_refused chunked("#{(2**64 + 5).to_s(16)}\r\nhello\r\n0\r\n\r\n")
  end

  def test_case_077_leading_zeros_are_bounded
    open_client do |client|
      response = client.ask(chunked("#{"0" * 1_000}5\r\nhello\r\n0\r\n\r\n"))
      next assert_equal :closed, client.ending if response.status == 400

      assert_equal "POST / hello", response.body
    end
    recorder.seen.clear
    assert_refused chunked("0" * 1_000_000), with: [400, 413, 431], deliveries: [:write]
  end

  def test_case_078_an_extension_without_a_name
    assert_refused chunked("5;\r\nhello\r\n0\r\n\r\n")
  end

  # RFC 9112, 7.1.1: BWS around ";" and "=", and nowhere else.
  def test_white_space_in_extensions
    ["5 ;a=b", "5; a = \"b\"", "5\t;\ta\t=\tb ; c"].each do |size|
      seen, = assert_served(chunked("#{size}\r\nhello\r\n0 ; z\r\n\r\n"))
      assert_equal "hello", seen.body, size
    end
  end

  def test_white_space_that_leads_to_no_extension
    ["5 ;", "5; ", "5;a ", "5;a=b ", "5;a= ", "5 5", " 5;a"].each do |size|
      assert_refused chunked("#{size}\r\nhello\r\n0\r\n\r\n")
    end
  end

  def test_white_space_in_extensions_is_bounded
    assert_refused chunked("5#{" " * 4_096}")
    assert_refused chunked("1;a=#{" " * 4_000}b\r\nx\r\n" * 5), deliveries: [:write]
  end

  def test_case_079_lf_in_an_extension
    assert_refused chunked("5;a=\nb\r\nhello\r\n0\r\n\r\n")
    assert_refused chunked("5;a=b\nhello\r\n0\r\n\r\n")
    assert_refused chunked("5\nhello\r\n0\r\n\r\n")
  end

  def test_case_080_cr_in_an_extension
    assert_refused chunked("5;a=\rb\r\nhello\r\n0\r\n\r\n")
  end

  def test_case_081_unbalanced_quote
    assert_refused chunked("5;a=\"b\r\nhello\r\n0\r\n\r\n")
    assert_refused chunked("5;a=\"b\\\"\r\nhello\r\n0\r\n\r\n")
  end

  def test_case_082_a_long_extension_is_bounded
    open_client do |client|
      response = client.ask(chunked("5;a=#{"x" * 65_536}\r\nhello\r\n0\r\n\r\n"))
      assert_includes [200, 400, 413, 431], response.status
      assert_equal "POST / hello", response.body if response.status == 200
    end
    recorder.seen.clear
    assert_refused chunked("5;a=#{"x" * 4_000_000}"), with: [400, 413, 431], deliveries: [:write]
  end

  def test_case_083_no_crlf_after_the_data
    assert_refused chunked("5\r\nhello0\r\n\r\n")
    assert_refused chunked("5\r\nhelloX\r\n0\r\n\r\n")
    assert_refused chunked("5\r\nhello\n0\r\n\r\n")
  end

  def test_case_084_more_data_than_the_size
    assert_refused chunked("5\r\nhello world\r\n0\r\n\r\n")
  end

  def test_case_085_an_end_before_the_last_chunk_is_no_end_of_the_body
    ["", "5\r\nhel", "5\r\nhello", "5\r\nhello\r\n", "5\r\nhello\r\n0", "5\r\nhello\r\n0\r\n"].each do |cut|
      open_client do |client|
        client.write(chunked(cut)).half_close
        assert_no_success client.rest
      end
    end
    refute recorder.seen.any?(&:complete?), "the app took half a body for a whole one"
    assert_alive
  end

  def test_case_086_framing_fields_in_the_trailer
    ["Content-Length: 50", "Transfer-Encoding: chunked", "Host: evil.test"].each do |line|
      open_client do |client|
        client.write(chunked("5\r\nhello\r\n0\r\n#{line}\r\n\r\n") + request("GET /next HTTP/1.1"))
        response = client.response
        next assert_equal :closed, client.ending if response.status == 400

        assert_equal ["POST / hello", "GET /next "], [response.body, client.response.body], line
      end
      refute recorder.seen.any? { |seen| seen["HTTP_HOST"] != "example.test" }, "a trailer became a field"
    end
  end

  def test_case_087_lf_ends_in_the_trailer
    assert_refused chunked("5\r\nhello\r\n0\r\nFoo: bar\n\n")
    assert_refused chunked("5\r\nhello\r\n0\r\nFoo: bar\n\r\n")
    assert_refused chunked("5\r\nhello\r\n0\r\n\n")
    assert_refused chunked("5\r\nhello\r\n0\n\n")
  end

  def test_case_088_tiny_chunks_cost_linear_time
    most = self.class.core == "native" ? 1_000_000 : 500_000 # in Ruby, a chunk takes twenty times as long
    small, large = [most / 4, most].map { |count| cpu_seconds { upload_tiny_chunks(count) } }
    assert_operator large, :<, 7 * small + 0.3, "four times the chunks cost #{(large / small).round(1)} times the CPU"
  end

  private

  def upload_tiny_chunks(count)
    seen, = assert_served(chunked("#{"1\r\nx\r\n" * count}0\r\n\r\n"))
    assert_equal count, seen.body.bytesize
  end

  # CPU time and not wall time, so that a busy machine does not count.
  def cpu_seconds(&block)
    elapsed(Process::CLOCK_PROCESS_CPUTIME_ID, &block)
  end
end
