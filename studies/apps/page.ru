# frozen_string_literal: true

# A page that is made by Ruby: a table of a hundred rows, each with a few columns that are computed and escaped.

require "erb"

page = ERB.new(<<~HTML, trim_mode: "-")
  <!DOCTYPE html>
  <title>Orders</title>
  <table>
  <%- rows.each do |number, name, price| -%>
    <tr><td><%= number %></td><td><%= ERB::Util.html_escape(name) %></td><td><%= format("%.2f", price) %></td></tr>
  <%- end -%>
  </table>
HTML
view = Struct.new(:rows)
page.def_method(view, "render")
rows = (1..100).map { |number| [number, "Order <#{number}> & others", number * 1.07] }

run(lambda do |_env|
  body = view.new(rows).render
  [200, { "content-type" => "text/html", "content-length" => body.bytesize.to_s }, [body]]
end)
