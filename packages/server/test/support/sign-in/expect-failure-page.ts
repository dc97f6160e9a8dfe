import { expect } from "bun:test";

/** Expects an error page with the status, a link and the request id, and nothing else from the request or the server's internals. */
export async function expectFailurePage(response: Response, status: number, text: RegExp): Promise<void> {
  const html = await response.text();
  expect([response.status, response.headers.get("content-type")]).toEqual([
    status,
    "text/html; charset=utf-8",
  ]);
  expect(html).toMatch(text);
  expect(html).toContain(response.headers.get("x-request-id") ?? "no request id");
  expect(html).toMatch(/<a class="button" href="\/[^"]*">Try again<\/a>/);
  expect(response.headers.get("cache-control")).toBe("no-store");
  if (status === 503) expect(response.headers.get("retry-after")).toMatch(/^[123]$/);
  expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(html).not.toMatch(/OAUTH_|Error:|at <anonymous>|node_modules/);
}
