// Tries to see the palace without the link, and from other websites.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { address, browser, end, heading, openPalace, origin, story } from "./palace.mjs";

const { context, page } = await openPalace();
const [cookie, ...others] = await context.cookies();
assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.path, others.length], [true, "Strict", "/", 0]);
assert.equal(await page.evaluate(() => document.cookie), "");

// Another browser with the same link, and one without a link.
const other = await (await browser.newContext()).newPage();
assert.equal((await other.goto(story.link)).status(), 401);
assert.match(await other.innerText("body"), /opened before, or is older than five minutes. `palazzo view` prints another/);
for (const path of ["/", "/survey", "/events?workspace=survey"]) {
  assert.equal((await other.goto(origin + path)).status(), 401, path);
}
assert.match(await other.innerText("body"), /opens from a link that `palazzo view` prints/);
assert.equal((await page.goto(address("/rooms/hall-of-biology"))).status(), 200);
// The cookie is not enough for the tools.
const call = await page.evaluate(async () => (await fetch("/mcp", { method: "POST", body: "{}" })).status);
assert.equal(call, 401);

// Websites that the same browser shows: on another port, so that the cookie is sent, and on another host.
const website = createServer((_, answer) => answer.setHeader("Content-Type", "text/html").end("<title>Elsewhere</title>"));
await new Promise((ready) => website.listen(0, ready));
for (const host of ["127.0.0.1", "localhost"]) {
  const tab = await context.newPage();
  await tab.goto(`http://${host}:${website.address().port}/`);
  const read = await tab.evaluate(async (origin) => {
    const result = [];
    for (const [path, init] of [["/", {}], ["/survey", {}], ["/healthz", {}], ["/mcp", {}], ["/mcp", { method: "POST", body: "{}" }], ["/survey", { mode: "no-cors" }]]) {
      const answer = await fetch(origin + path, { credentials: "include", ...init }).catch(() => null);
      result.push(answer && `${path}: ${answer.type} ${answer.status} ${await answer.text()}`);
    }
    const events = new EventSource(`${origin}/events?workspace=survey`, { withCredentials: true });
    result.push(await new Promise((done) => { events.onopen = () => done("open"); events.onerror = () => done(null); }));
    return result;
  }, origin);
  // Without CORS the answer has no content that a script can read.
  assert.deepEqual(read, [null, null, null, null, null, "/survey: opaque 0 ", null], host);
  const framed = await tab.evaluate(async (origin) => {
    const frame = document.body.appendChild(document.createElement("iframe"));
    const loaded = new Promise((done) => { frame.onload = done; });
    frame.src = `${origin}/survey`;
    await loaded;
    return frame.contentDocument === null;
  }, origin);
  assert.ok(framed);
  const frame = tab.frames().find((it) => it !== tab.mainFrame());
  assert.doesNotMatch(await frame.content(), /Great Hall/);
  await tab.close();
}
website.close();
await page.reload();
assert.equal(await heading(page), "Hall of Biology");
await end();
