// Runs in each document before its own scripts. Notes by the page's own clock, which begins with the navigation, when what
// is waited for has been painted, and what scrolling costs.
const isThere = {
  signIn: () => document.querySelector("h1") !== null,
  figures: () => {
    const values = [...document.querySelectorAll("dl > div > dd:nth-of-type(1)")];
    return values.length > 0 && values.every(({ textContent }) => textContent !== "");
  },
  rows: () => document.querySelector("a[data-result]") !== null,
  result: () => document.querySelector("[role=dialog] section[aria-label=Details]") !== null,
};

const bench = {
  shownMs: {},
  clickedMs: undefined,
  scrolling: { taskMs: [], mostRows: 0, lastRow: 0 },
  watchScrolling,
};
globalThis.presageBench = bench;
for (const name of Object.keys(isThere)) mark(name);

addEventListener(
  "click",
  ({ timeStamp }) => {
    bench.clickedMs = timeStamp;
    delete bench.shownMs.result;
    mark("result");
  },
  { capture: true },
);

function mark(name) {
  const observer = new MutationObserver(() => {
    if (!isThere[name]()) return;
    observer.disconnect();
    afterPaint((atMs) => {
      bench.shownMs[name] = atMs;
    });
  });
  observer.observe(document, { childList: true, subtree: true, characterData: true });
}

/** The first message after a frame was begun comes when it has been painted. */
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
    // The head is row 1.
    const lastRow = Number([...rows].at(-1)?.getAttribute("aria-rowindex") ?? 1) - 1;
    bench.scrolling.mostRows = Math.max(bench.scrolling.mostRows, rows.length);
    bench.scrolling.lastRow = Math.max(bench.scrolling.lastRow, lastRow);
    requestAnimationFrame(look);
  };
  look();
}
