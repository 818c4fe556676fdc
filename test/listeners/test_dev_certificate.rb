# frozen_string_literal: true

require "test_helper"

# The certificate of --dev-tls.
class TestDevCertificate < Minitest::Test
  include TemporaryDirectory

  def setup
    @made = Cuttle::Listeners::DevCertificate.new("#{@directory}/a/b")
  end

  def test_the_authority_signs_for_localhost_only
    cert, key = @made.files
    assert verified?(cert)
    assert OpenSSL::X509::Certificate.new(File.read(cert)).check_private_key(OpenSSL::PKey.read(File.read(key)))
    assert_match(/localhost/, extension(cert, "subjectAltName"))
    assert_match(/Permitted:.*DNS:localhost/m, extension(@made.authority, "nameConstraints"))
  end

  def test_what_is_there_is_used_again
    first = contents
    assert_equal first, contents
  end

  def test_what_expires_soon_is_made_again_by_the_same_authority
    authority, cert, = contents
    at(Time.now + (340 * 24 * 3600)) { refute_equal cert, contents[1] }
    assert_equal authority, File.read(@made.authority)
    assert verified?("#{@made.directory}/cert.pem", at: Time.now + (360 * 24 * 3600))
  end

  def test_what_is_broken_is_made_again
    contents
    %w[cert.pem key.pem ca.pem ca-key.pem].each do |name|
      File.write("#{@made.directory}/#{name}", "broken")
      cert, = @made.files
      assert verified?(cert), name
    end
  end

  # What was there before the first use: a directory that others can write, a link, a file that others can read.
  def test_only_the_user_reads_the_keys
    FileUtils.mkdir_p(@made.directory)
    File.chmod(0o777, @made.directory)
    File.write("#{@directory}/other", "other")
    File.symlink("#{@directory}/other", "#{@made.directory}/key.pem.new")
    File.write("#{@made.directory}/ca-key.pem.new", "")
    File.chmod(0o644, "#{@made.directory}/ca-key.pem.new")
    @made.files
    assert_equal "other", File.read("#{@directory}/other")
    modes = ["", "/key.pem", "/ca-key.pem"].map { |name| File.lstat(@made.directory + name).mode }
    assert_equal [0o040700, 0o100600, 0o100600], modes
  end

  def test_the_directory_is_the_users
    variables = { "XDG_STATE_HOME" => "/s", "HOME" => "/h" }
    assert_equal "/s/cuttle/dev-tls", Cuttle::Listeners::DevCertificate.directory(variables)
    assert_equal "/h/.local/state/cuttle/dev-tls", Cuttle::Listeners::DevCertificate.directory("HOME" => "/h")
    relative = { "XDG_STATE_HOME" => "s", "HOME" => "/h" } # the specification: then it does not count
    assert_equal "/h/.local/state/cuttle/dev-tls", Cuttle::Listeners::DevCertificate.directory(relative)
  end

  def test_an_error_names_a_directory_that_can_not_be_written
    File.write("#{@directory}/file", "")
    error = assert_raises(Cuttle::Error) { Cuttle::Listeners::DevCertificate.new("#{@directory}/file/a").files }
    assert_match(/\A--dev-tls: /, error.message)
  end

  private

  def contents
    [@made.files, @made.authority].flatten.values_at(2, 0, 1).map { |path| File.read(path) }
  end

  def extension(path, name)
    OpenSSL::X509::Certificate.new(File.read(path)).extensions.find { |one| one.oid == name }.value
  end

  def verified?(path, at: Time.now)
    store = OpenSSL::X509::Store.new
    store.add_file(@made.authority)
    store.time = at
    store.verify(OpenSSL::X509::Certificate.new(File.read(path)))
  end

  # Runs the block as if it were that time.
  def at(time, &block)
    Time.stub(:now, time, &block)
  end
end
