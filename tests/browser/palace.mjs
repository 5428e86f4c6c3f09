// What the stories in a browser share: the browser, and a watch over what its pages do.
//
// Each script gets its arguments as JSON, prints what the test needs, and fails by an exception.

import assert from "node:assert/strict";

const { chromium } = await import(`${process.env.BROWSER_PACKAGES}/playwright-core/index.mjs`);

/** The arguments of this script. */
export const story = JSON.parse(process.argv[2]);

// A script that hangs fails.
setTimeout(() => { console.error("this takes too long"); process.exit(1); }, 120_000).unref();

/** The server, without a slash at the end. */
export const origin = story.link && new URL(story.link).origin;

export const browser = await chromium.launch({ executablePath: process.env.BROWSER_PROGRAM });

/**
 * Opens a page in a new window that keeps nothing of others. `problems` lists what no page may do:
 * errors, violations of the content security policy, dialogs, requests to other servers.
 */
export async function openWindow(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const problems = [];
  page.on("console", (it) => { if (it.type() !== "log") problems.push(`console: ${it.text()} ${it.location().url}`); });
  page.on("pageerror", (it) => problems.push(`error: ${it.message}`));
  page.on("dialog", (it) => { problems.push(`dialog: ${it.message()}`); it.dismiss(); });
  context.on("request", (it) => {
    const isOwn = origin && new URL(it.url()).origin === origin;
    if (!isOwn && !/^(data|file):/.test(it.url())) problems.push(`request: ${it.url()}`);
  });
  return { context, page, problems };
}

/** Opens the palace with the one-time link. */
export async function openPalace(options) {
  const opened = await openWindow(options);
  await opened.page.goto(story.link);
  assert.equal(opened.page.url(), `${origin}/`);
  return opened;
}

export const heading = (page) => page.locator("main h1").innerText();

/** Returns the address of a page of the palace. */
export const address = (path) => `${origin}/survey${path}`;

/** One page of each kind. */
export const kinds = (commit) => [
  "", "/rooms/catastrophism-alcove", "/map", "/index", "/index?genus=Claim", "/log", "/findings", "/tasks",
  "/search?q=kumara", "/search?q=nothing+like+it", "/entities/Continents%20drift", `/commits/${commit}`, `?at=${commit}`,
];

/** Fails if the page is wider than its window. */
export async function assertFits(page) {
  const [page_width, window_width] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(page_width <= window_width, `${page.url()}: ${page_width} px in ${window_width}`);
}

/** Opens every page that the links of the palace lead to, and calls `look` on each. */
export async function crawl(page, start, look) {
  const found = [start], seen = new Set(found);
  for (const path of found) {
    await page.goto(origin + path);
    await look(path);
    const links = await page.$$eval("a[href]", (all) => all.map((it) => it.href.baseVal ?? it.getAttribute("href")));
    for (const link of links.filter((it) => it.startsWith("/") && !it.includes("at="))) {
      if (!seen.has(link)) { seen.add(link); found.push(link); }
    }
  }
  return found.length;
}

/** Fails if the pages did what they may not, and ends the browser. */
export async function end({ problems } = { problems: [] }) {
  await browser.close();
  assert.deepEqual(problems, []);
}
