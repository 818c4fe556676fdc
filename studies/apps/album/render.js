"use strict";

// The process behind Services::Renderer: `node render.js`. It says its port, answers a line of JSON,
// {"photos": [[id, title, text], …], "ms": 520}, with {"html": "…"} after computing for so many milliseconds, and
// ends when its standard input does.
//
// The law: it has one thread, and rendering occupies it. Whoever else asks meanwhile waits, however many servers ask.

const net = require("net");

const LONGEST_LINE = 1048576;
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escape(text) {
  return String(text).replace(/[&<>"]/g, (character) => ENTITIES[character]);
}

// By this process's own CPU time: what it waits for a core does not count.
function compute(milliseconds) {
  const start = process.cpuUsage();
  let used = 0;
  while (used < milliseconds) {
    const { user, system } = process.cpuUsage(start);
    used = (user + system) / 1000;
  }
}

function render({ photos, ms }) {
  compute(ms);
  const items = photos.map(([id, title, text]) =>
    `<li id="${escape(id)}"><h2>${escape(title)}</h2><p>${escape(text)}</p></li>`);
  return { html: `<ul>\n${items.join("\n")}\n</ul>` };
}

function answer(line) {
  try {
    return render(JSON.parse(line));
  } catch (error) {
    return { error: error.message };
  }
}

const server = net.createServer((socket) => {
  let received = "";
  socket.setNoDelay(true);
  socket.setEncoding("utf8");
  socket.on("error", () => socket.destroy());
  socket.on("data", (text) => {
    const lines = (received + text).split("\n");
    received = lines.pop();
    if (received.length > LONGEST_LINE) return socket.destroy();
    for (const line of lines) socket.write(`${JSON.stringify(answer(line))}\n`);
  });
});

server.on("error", (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
server.listen({ port: 0, host: "127.0.0.1", backlog: 1024 }, () => {
  process.stdout.write(`ready ${server.address().port}\n`);
});
process.stdin.on("end", () => process.exit(0));
process.stdin.resume();
