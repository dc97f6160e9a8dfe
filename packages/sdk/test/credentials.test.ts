import { expect, test } from "bun:test";
import { createPresage, type PresageOptions } from "../src/create-presage.ts";

const baseUrl = "https://presage.example";

/** The options passed to fetch: only in a page are there cookies to observe instead. */
async function requestsOf(options: PresageOptions): Promise<(RequestInit & { headers: Headers })[]> {
  const requests: (RequestInit & { headers: Headers })[] = [];
  const presage = createPresage({
    baseUrl,
    ...options,
    async fetch(_url, init) {
      requests.push({ ...init, headers: new Headers(init.headers) });
      return Response.json({});
    },
  });
  await presage.me();
  await presage.apiKeys.create({ name: "mine" });
  await presage.apiKeys.revoke("1");
  return requests;
}

test("with a key, requests carry the key and no cookie or CSRF token", async () => {
  for (const { credentials, headers } of await requestsOf({ apiKey: "k-1", csrfToken: () => "t-1" })) {
    expect(credentials).toBe("omit");
    expect(headers.get("authorization")).toBe("Bearer k-1");
    expect(headers.has("x-csrf-token")).toBe(false);
  }
});

test("without a key, requests carry the cookie to its own origin, and the CSRF token unless they are a GET", async () => {
  let token = "t-1";
  const requests = await requestsOf({
    csrfToken: () => {
      const current = token;
      token = "t-2";
      return current;
    },
  });
  expect(requests.map(({ credentials }) => credentials)).toEqual([
    "same-origin",
    "same-origin",
    "same-origin",
  ]);
  expect(requests.map(({ headers }) => headers.get("x-csrf-token"))).toEqual([null, "t-1", "t-2"]);
  expect(requests.some(({ headers }) => headers.has("authorization"))).toBe(false);
});

test("without a CSRF token there is no header for it", async () => {
  const requests = await requestsOf({ csrfToken: () => undefined });
  expect(requests.some(({ headers }) => headers.has("x-csrf-token"))).toBe(false);
});

test("the URL may end as OpenAI clients need it", async () => {
  for (const [end, path] of [
    ["/v1", ""],
    ["/v1/", ""],
    ["/behind/v1", "/behind"],
    ["/v1x/", "/v1x"],
  ]) {
    const asked: string[] = [];
    const fetch = async (url: string) => {
      asked.push(url);
      return Response.json({});
    };
    await createPresage({ baseUrl: baseUrl + end, apiKey: "k-1", fetch }).me();
    expect(asked).toEqual([`${baseUrl}${path}/v1/me`]);
  }
});
