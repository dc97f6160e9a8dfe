import { expect, test } from "bun:test";
import { openDomPage } from "./dom-page.ts";

const shell = `<html><head><script src="/script.js"></script></head><body><p>first</p></body></html>`;
const script = `
  document.querySelector("p").textContent = [typeof document, innerWidth, location.pathname].join(" ");
  window.kept = 1;
  localStorage.setItem("visits", String(Number(localStorage.getItem("visits")) + 1));
`;

/** All globals, which a test or a server can use without importing them. */
function globals(): Map<string, unknown> {
  const names = Object.getOwnPropertyNames(globalThis);
  return new Map(names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)?.value]));
}

test("A page has a window of its own, and leaves nothing to the process", async () => {
  const server = Bun.serve({
    port: 0,
    fetch: ({ url }) =>
      url.endsWith(".js")
        ? new Response(script)
        : new Response(shell, { headers: { "content-type": "text/html" } }),
  });
  const before = globals();
  const problems: string[] = [];
  const open = (width: number) =>
    openDomPage({
      origin: server.url.origin,
      cookies: new Map(),
      report: (problem) => problems.push(problem),
      viewport: { width, height: 700 },
      colorScheme: "light",
    });
  const [wide, narrow] = [open(1200), open(400)];
  await Promise.all([wide.goto("/wide"), narrow.goto("/narrow")]);
  await wide.getByText("object 1200 /wide", { exact: true }).waitFor();
  await narrow.getByText("object 400 /narrow", { exact: true }).waitFor();
  await wide.reload();
  expect(await wide.evaluate(() => localStorage.getItem("visits"))).toBe("2");
  expect(await narrow.evaluate(() => localStorage.getItem("visits"))).toBe("1");
  await Promise.all([wide.close(), narrow.close()]);
  await server.stop(true);
  expect(problems).toEqual([]);
  expect(typeof document).toBe("undefined");
  expect(globals()).toEqual(before);
});
