# frozen_string_literal: true

require "test_helper"
require "tempfile"

# Settings of the control listener, the pidfile and the state file.
class TestControlSettings < Minitest::Test
  def test_urls
    assert_nil settings.control_url
    assert_equal "auto", settings(control_url: :auto).control_url
    assert_equal "unix:///a/b", settings(control_url: "unix:///a/b").control_url
    assert_equal "unix://#{Dir.pwd}/tmp/c", settings(control_url: "unix://tmp/c").control_url
    assert_equal "unix://#{Dir.pwd}/c?umask=0117", settings(control_url: "unix:c?umask=0117").control_url
    assert_equal "tcp://[::1]:1", settings(control_url: "tcp://[::1]:1", control_token: "t").control_url
    assert_equal "--control-url x: give tcp://host:port or unix:///path, or auto", complaint(control_url: "x")
    assert_equal "--control-url unix://@x: everybody could connect: give unix:///path, or auto",
                 complaint(control_url: "unix://@x")
  end

  def test_tcp_needs_a_token_that_somebody_can_know
    assert settings(control_url: "tcp://a:1", state_path: "s")
    assert_match(/needs --control-token, or --state FILE/, complaint(control_url: "tcp://a:1"))
    assert_match(/needs a token: give one/, complaint(control_url: "tcp://a:1", control_token: "none", state_path: "s"))
  end

  def test_tokens
    assert settings(control_url: "auto", control_token: "none")
    assert_equal "--control-token needs --control-url", complaint(control_token: "t")
    assert_equal "t", settings({ "CUTTLE_CONTROL_TOKEN" => "t" }).control_token, "it may be there for ctl alone"
    ["", "a b", "a\n", "ä"].each do |token|
      assert_equal "--control-token: give printable characters without spaces",
                   complaint(control_url: "auto", control_token: token)
    end
  end

  def test_a_token_is_not_shown
    row = Cuttle::Settings.row(:control_token)
    assert_equal ["(set)", "none"], [row.write("secret"), row.write(nil)]
    refute_includes complaint(control_url: "auto", control_token: "sec ret"), "sec"
  end

  def test_files
    settings = settings(pidfile: "a", state_path: "b")
    assert_equal ["#{Dir.pwd}/a", "#{Dir.pwd}/b", "0600"],
                 [settings.pidfile, settings.state_path, settings.state_permission]
    assert_equal "--pidfile : give a path", complaint(pidfile: "")
  end

  def test_permissions
    { 0o640 => "0640", "640" => "0640", "0644" => "0644", 0 => "0000" }.each do |given, expected|
      assert_equal expected, settings(state_permission: given).state_permission
    end
    ["8", "rw", "01777", 0o1777, -1, ""].each do |given|
      assert_match(/give octal permissions, such as 0640/, complaint(state_permission: given))
    end
  end

  def test_words_as_pumas
    { "activate_control_app" => ["auto", nil], "activate_control_app 'unix:///a'" => ["unix:///a", nil],
      "activate_control_app 'tcp://a:1', auth_token: 't'" => ["tcp://a:1", "t"],
      "activate_control_app 'tcp://a:1', { auth_token: 't' }" => ["tcp://a:1", "t"],
      "activate_control_app 'unix:///a', { no_token: true }" => ["unix:///a", "none"],
      "control_url 'unix:///a'\ncontrol_token 't'" => ["unix:///a", "t"] }.each do |text, expected|
      settings = configured(text)
      assert_equal expected, [settings.control_url, settings.control_token], text
    end
    error = assert_raises(Cuttle::UsageError) { configured("activate_control_app 'auto', token: 't'") }
    assert_match(/:1: activate_control_app: unknown option token\z/, error.message)
    assert_equal "0640", configured("state_permission 0640").state_permission
  end

  private

  def settings(variables = {}, **options)
    Cuttle::Settings.build(variables: variables, **options)
  end

  def complaint(**options)
    assert_raises(Cuttle::UsageError) { settings(**options) }.message
  end

  def configured(text)
    Tempfile.create(["cuttle", ".rb"]) do |file|
      file.write(text)
      file.close
      Cuttle::Settings.build(variables: {}, configuration: Cuttle::Configuration.read(file.path))
    end
  end
end
