# frozen_string_literal: true

require_relative "chromium"

# Tests of a page in a browser: on a telephone and on a screen, light and dark, and on paper.
module LookedAt
  WIDTHS = [390, 1280].freeze
  SCHEMES = %w[light dark].freeze

  # Texts and drawn lines that stand out too little from what is behind them (WCAG 2: 4.5 and 3). Colours may be
  # given in any way that a canvas understands.
  CONTRAST = <<~JS
    (() => {
      const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
      const channels = color => {
        context.clearRect(0, 0, 1, 1);
        context.fillStyle = color;
        context.fillRect(0, 0, 1, 1);
        return Array.from(context.getImageData(0, 0, 1, 1).data);
      };
      const luminance = color => {
        const [r, g, b] = channels(color).slice(0, 3).map(c => c / 255)
          .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const ratio = (one, other) => {
        const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
      };
      const behind = element => {
        for (let each = element; each; each = each.parentElement) {
          const color = getComputedStyle(each).backgroundColor;
          if (channels(color)[3] === 255) return color;
        }
        return "white";
      };
      const all = selector => Array.from(document.querySelectorAll(selector));
      const written = element => !element.closest("script, desc") && element.tagName !== "title" &&
        Array.from(element.childNodes).some(node => node.nodeType === 3 && node.data.trim());
      const judge = (element, colour, least) => ({ ratio: ratio(colour, behind(element)), least,
        what: element.textContent.trim().slice(0, 60) || element.getAttribute("class") });
      const texts = all("body *").filter(written).map(element =>
        judge(element, getComputedStyle(element)[element.closest("svg") ? "fill" : "color"], 4.5));
      const drawn = all("svg .line, svg .bar, svg .marker:not(.hollow), svg .whisker").map(element => {
        const style = getComputedStyle(element);
        return judge(element, style.fill === "none" ? style.stroke : style.fill, 3);
      });
      return texts.concat(drawn).filter(each => each.ratio < each.least).slice(0, 10);
    })()
  JS

  # Texts of charts that reach beyond their drawing, or lie on each other on an axis.
  CROWDED = <<~JS
    Array.from(document.querySelectorAll("svg[role=img]")).flatMap(svg => {
      const frame = svg.getBoundingClientRect();
      if (!frame.width) return [];
      const boxes = Array.from(svg.querySelectorAll("text"))
        .map(text => [text.textContent, text.getBoundingClientRect()]);
      const outside = boxes.filter(([, box]) => box.left < frame.left - 1 || box.right > frame.right + 1);
      const touching = boxes.filter(([, one], index) => boxes.slice(index + 1).some(([, other]) =>
        one.left < other.right && other.left < one.right && one.top + 2 < other.bottom && other.top + 2 < one.bottom));
      return outside.concat(touching).map(([text]) => svg.getAttribute("aria-label").slice(0, 50) + ": " + text);
    }).slice(0, 10)
  JS

  # Elements that reach beyond the window, but for what scrolls by itself.
  OVERFLOW = <<~JS
    Array.from(document.querySelectorAll("body *")).filter(element => !element.closest(".scroll") &&
      element.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5)
      .map(element => element.outerHTML.slice(0, 80)).slice(0, 5)
  JS

  # Cells whose text reaches over the next cell.
  SPILLED = <<~JS
    Array.from(document.querySelectorAll("td, th")).filter(cell => cell.scrollWidth > cell.clientWidth + 1)
      .map(cell => cell.textContent.slice(0, 60)).slice(0, 5)
  JS

  # All tests of a suite in one process, because each process starts a browser.
  def self.included(suite)
    super
    suite.define_singleton_method(:test_order) { :alpha }
  end

  # One for all tests: its start takes longest.
  def self.browser
    @browser ||= Chromium.new
  end

  Minitest.after_run { @browser&.close }

  # Before each test. Skips without a browser.
  def look_at(path, html)
    skip "Chromium is not installed (Debian: chromium)" unless Chromium.program
    File.write(@path = path, html)
  end

  def browser
    LookedAt.browser
  end

  # +reload+: load the page for each view, not only for each width. Loading takes most of the time.
  def each_view(reload: false)
    WIDTHS.product(SCHEMES) do |width, scheme|
      if reload || scheme == SCHEMES.first
        browser.visit(@path, width: width, scheme: scheme)
      else
        browser.show(scheme: scheme)
      end
      yield width, "#{width} #{scheme}"
    end
  end

  def unfold
    browser.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
  end

  def test_no_complaints_and_no_requests
    each_view(reload: true) do |_, view|
      assert_equal ["file://#{@path}"], browser.requests.grep_v(/\Adata:/), view
      assert_empty browser.complaints, view
    end
  end

  def test_nothing_is_wider_than_the_window
    each_view do |width, view|
      unfold
      assert_equal width, browser.evaluate("document.documentElement.scrollWidth"), view
      assert_empty browser.evaluate(OVERFLOW), view
      assert_empty browser.evaluate(SPILLED), view
    end
  end

  def test_texts_and_lines_stand_out_in_both_schemes
    each_view { |_, view| assert_empty browser.evaluate(CONTRAST), view }
  end

  def test_the_schemes_differ
    browser.visit(@path, width: 1280, scheme: SCHEMES.first)
    colours = SCHEMES.map do |scheme|
      browser.show(scheme: scheme)
      browser.evaluate("getComputedStyle(document.body).backgroundColor")
    end
    refute_equal(*colours)
  end

  def test_texts_of_charts_have_room
    each_view do |_, view|
      unfold
      assert_empty browser.evaluate(CROWDED), view
    end
  end

  def test_the_smallest_text_can_be_read
    browser.visit(@path, width: 390, scheme: "light")
    least = browser.evaluate(<<~JS)
      Math.min(...Array.from(document.querySelectorAll("svg[role=img]")).filter(svg => svg.clientWidth)
        .map(svg => 11 * svg.getBoundingClientRect().width / 360))
    JS
    assert_operator least, :>=, 9.5
  end

  # Structure that a screen reader needs.
  def test_tables_and_headings
    browser.visit(@path, width: 1280, scheme: "light")
    assert_equal 1, browser.evaluate("document.querySelectorAll('h1').length")
    assert_empty browser.evaluate(<<~JS)
      Array.from(document.querySelectorAll("table")).filter(table => !table.caption || !table.tHead ||
        Array.from(table.querySelectorAll("th")).some(th => !th.scope)).map(table => table.outerHTML.slice(0, 80))
    JS
    assert_empty browser.evaluate(<<~JS)
      Array.from(document.querySelectorAll("[id]")).map(each => each.id)
        .filter((id, index, ids) => ids.indexOf(id) !== index)
    JS
  end

  # Paper is white, whatever the screen was.
  def test_paper
    browser.visit(@path, width: 1280, scheme: "dark", media: "print")
    assert_equal "rgb(255, 255, 255)", browser.evaluate("getComputedStyle(document.body).backgroundColor")
    assert_equal "rgb(27, 36, 48)", browser.evaluate("getComputedStyle(document.body).color")
    assert_equal "none", browser.evaluate("getComputedStyle(document.querySelector('nav')).display")
  end
end
