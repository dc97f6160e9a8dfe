// Runs in each document before its own scripts. Records, by the page's clock, which starts at the navigation, when the
// awaited content is painted, and what scrolling costs.
const isThere = {
  signIn: () => document.querySelector("h1") !== null,
  figures: () => {
    const values = [...document.querySelectorAll("dl > div > dd:nth-of-type(1)")];
    return values.length > 0 && values.every(({ textContent }) => textContent !== "");
  },
  rows: () => document.querySelector("[data-row-link]") !== null,
  // All placeholders are gone.
  report: () =>
    document.querySelector("main :is(table, svg[role=img], figure)") !== null &&
    document.querySelector("main :is([role=status], [aria-busy=true])") === null,
  result: () => document.querySelector("[role=dialog] section[aria-label=Details]") !== null,
};

/** Shorter tasks block nobody. */
const leastTaskMs = 50;

const bench = {
  shownAtMs,
  clickedMs: undefined,
  scrolling: { taskMs: [], mostRows: 0, lastRow: 0 },
  watchScrolling,
  slowLoad,
};
globalThis.presageBench = bench;
/** Promises of paint times, by name. */
const marks = {};
for (const name of Object.keys(isThere)) mark(name);

addEventListener(
  "click",
  ({ timeStamp }) => {
    bench.clickedMs = timeStamp;
    mark("result");
  },
  { capture: true },
);

function shownAtMs(name, patienceMs) {
  const tooLate = new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`no ${name} after ${patienceMs} ms`)), patienceMs);
  });
  return Promise.race([marks[name], tooLate]);
}

function mark(name) {
  const { promise, resolve } = Promise.withResolvers();
  marks[name] = promise;
  const observer = new MutationObserver(() => {
    if (!isThere[name]()) return;
    observer.disconnect();
    afterPaint(resolve);
  });
  observer.observe(document, { childList: true, subtree: true, characterData: true });
}

/** The first message posted during a frame arrives after it has been painted. */
function afterPaint(tell) {
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => tell(performance.now());
    port2.postMessage(undefined);
  });
}

function watchScrolling() {
  new PerformanceObserver((list) => {
    bench.scrolling.taskMs.push(...list.getEntries().map(({ duration }) => duration));
  }).observe({ type: "longtask" });
  const look = () => {
    const rows = document.querySelectorAll("tr[aria-rowindex]");
    // The header is row 1.
    const lastRow = Number([...rows].at(-1)?.getAttribute("aria-rowindex") ?? 1) - 1;
    bench.scrolling.mostRows = Math.max(bench.scrolling.mostRows, rows.length);
    bench.scrolling.lastRow = Math.max(bench.scrolling.lastRow, lastRow);
    requestAnimationFrame(look);
  };
  look();
}

/** The sums of long tasks and layout shifts so far. */
function slowLoad() {
  const entriesOf = (type) => {
    const observer = new PerformanceObserver(() => {});
    observer.observe({ type, buffered: true });
    const entries = observer.takeRecords();
    observer.disconnect();
    return entries;
  };
  const blockedMs = entriesOf("longtask").reduce((sum, { duration }) => sum + duration - leastTaskMs, 0);
  const shifts = entriesOf("layout-shift").filter(({ hadRecentInput }) => !hadRecentInput);
  return { blockedMs, shift: shifts.reduce((sum, { value }) => sum + value, 0) };
}
