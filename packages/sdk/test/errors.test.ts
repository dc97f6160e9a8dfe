import { afterAll, describe, expect, test } from "bun:test";
import { inspect } from "node:util";
import { startRawUpstream } from "../../server/test/support/upstream/raw-upstream.ts";
import { createPresage } from "../src/create-presage.ts";
import { caught } from "./support/caught.ts";
import { json, startScriptedServer } from "./support/scripted-server.ts";

const apiKey = "key-that-must-stay-hidden-0123456789";
const server = startScriptedServer();
const presage = createPresage({ baseUrl: server.url, apiKey, retries: 0 });
afterAll(() => server.stop());

describe("errors", () => {
  test.each([
    [400, "invalid"],
    [401, "unauthenticated"],
    [402, "budget_exhausted"],
    [403, "forbidden"],
    [404, "not_found"],
    [405, "invalid"],
    [408, "timeout"],
    [409, "conflict"],
    [413, "too_large"],
    [418, "unexpected"],
    [429, "rate_limit"],
    [500, "unexpected"],
    [502, "upstream"],
    [503, "unavailable"],
    [504, "timeout"],
  ] as const)("status %d is of category %s, with or without Presage's own body", async (status, category) => {
    server.script(json({ detail: "No such luck." }, status, { "x-request-id": "r-1" }));
    const known = await caught(presage.me());
    expect({ ...known, message: known.message }).toMatchObject({
      message: "No such luck.",
      category,
      status,
      requestId: "r-1",
      issues: [],
    });
    server.script(() => new Response("<html>proxy</html>", { status }));
    const other = await caught(presage.me());
    expect(other.category).toBe(category);
    const doubt = [404, 405].includes(status) ? "; is this the URL of a Presage server?" : ".";
    expect(other.message).toBe(`${server.url} responded with status ${status}${doubt}`);
    expect(other.requestId).toBeUndefined();
  });

  test("after a 422 have every issue, and name the first three in the message", async () => {
    const detail = ["a", "b", "c", "d"].map((name) => ({
      loc: ["body", name, 0],
      msg: "Field required",
      type: "missing",
      input: {},
    }));
    server.script(json({ detail }, 422));
    const error = await caught(presage.me());
    expect(error.category).toBe("invalid");
    expect(error.issues).toEqual(detail);
    expect(error.message).toBe(
      "body.a.0: Field required; body.b.0: Field required; body.c.0: Field required; and 1 more",
    );
  });

  test("a 413 is about the model's context only if it says so", async () => {
    const body = { detail: "The input exceeds the upstream model's context length." };
    server.script(json({ ...body, category: "context_exceeded" }, 413), json(body, 413));
    expect((await caught(presage.me())).category).toBe("context_exceeded");
    expect((await caught(presage.me())).category).toBe("too_large");
  });

  test("of an answer of no use have a category of their own", async () => {
    server.script(json({ detail: "It has no text.", category: "unusable_completion" }, 502));
    expect(await caught(presage.me())).toMatchObject({ category: "unusable_completion", status: 502 });
  });

  test("of the upstream have its status and body", async () => {
    const body = {
      detail: "The upstream failed.",
      upstream_status: 500,
      upstream_body: "boom",
      category: "upstream",
    };
    server.script(json(body, 502));
    expect(await caught(presage.me())).toMatchObject({ upstreamStatus: 500, upstreamBody: "boom" });
  });

  test.each([["null"], ["[]"], ['"text"'], ['{"detail":[1,null,{"loc":"body"}]}'], ["{"]])(
    "survive a body that is not Presage's: %s",
    async (body) => {
      server.script(() => new Response(body, { status: 422 }));
      expect(await caught(presage.me())).toMatchObject({ category: "invalid", issues: [] });
    },
  );

  test("a successful response that is not JSON is unexpected", async () => {
    server.script(() => new Response("<html>Welcome</html>", { headers: { "content-type": "text/html" } }));
    expect(await caught(presage.me())).toMatchObject({
      category: "unexpected",
      status: 200,
      message: `The response from ${server.url} is not JSON; is this the URL of a Presage server?`,
    });
  });

  test.each([
    ["https://presage.example/v1/me?token=secret", "https://presage.example; use that as baseUrl."],
    ["/behind/v1/me", "SERVER/behind; use that as baseUrl."],
    [
      "https://login.example/start?state=secret",
      "https://login.example/start; is this the URL of a Presage server?",
    ],
  ])(
    "a redirect to %s is neither followed nor repeated, and says where it leads",
    async (location, where) => {
      const retrying = createPresage({ baseUrl: server.url, apiKey });
      server.script(
        () => new Response(null, { status: 302, headers: { location } }),
        json({ id: "somebody" }),
      );
      expect(await caught(retrying.me())).toMatchObject({
        category: "unexpected",
        status: 302,
        message: `${server.url} redirects to ${where.replace("SERVER", server.url)}`,
      });
      expect(server.received).toHaveLength(1);
    },
  );

  test("a redirect to nowhere is one too", async () => {
    server.script(() => new Response(null, { status: 302 }));
    expect((await caught(presage.me())).message).toBe(
      `${server.url} redirects; is this the URL of a Presage server?`,
    );
  });

  test("a server that does not run is a failed connection", async () => {
    const gone = startScriptedServer();
    await gone.stop();
    const error = await caught(createPresage({ baseUrl: gone.url, apiKey, retries: 0 }).me());
    expect(error).toMatchObject({
      category: "connection",
      status: undefined,
      message: `Presage cannot be reached at ${gone.url}.`,
    });
    expect(error.cause).toBeInstanceOf(Error);
  });

  test("a response that is cut off is a failed connection", async () => {
    const raw = await startRawUpstream(({ socket }) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{");
      setTimeout(() => socket.destroy(), 50);
    });
    const client = createPresage({ baseUrl: raw.url, retries: 0 });
    expect(await caught(client.me())).toMatchObject({ category: "connection", status: 200 });
    await raw.stop();
  });

  test("never contain the key, even if the response repeats it", async () => {
    const gone = startScriptedServer();
    await gone.stop();
    const body = {
      detail: `Key ${apiKey} is unknown.`,
      upstream_body: `Bearer ${apiKey}`,
    };
    server.script(json(body, 401));
    const errors = [
      await caught(presage.me()),
      await caught(presage.me({ timeoutMs: 0 })),
      await caught(createPresage({ baseUrl: gone.url, apiKey, retries: 0 }).me()),
    ];
    for (const error of errors) {
      const everything =
        inspect(error, { depth: 20, showHidden: true }) + JSON.stringify(error) + String(error.stack);
      expect(everything).not.toContain(apiKey);
    }
    expect(errors[0]?.message).toBe("Key [API key] is unknown.");
    expect(inspect(presage, { depth: 20, showHidden: true })).not.toContain(apiKey);
  });
});

describe("invalid options", () => {
  test.each([[""], ["two words"], ["line\nfeed"], ["schlüssel"]])(
    "a key that no header can carry is refused without repeating it: %j",
    (key) => {
      let message = "";
      try {
        createPresage({ baseUrl: server.url, apiKey: key });
      } catch (error) {
        message = String(error);
      }
      expect(message).toStartWith("TypeError: apiKey");
      if (key !== "") expect(message).not.toContain(key);
    },
  );

  test.each([
    [undefined],
    [""],
    ["presage.example"],
    ["ftp://presage.example"],
    ["https://me:secret@presage.example"],
  ])("an address that nothing can be asked at is refused: %s", (baseUrl) => {
    expect(() => createPresage({ baseUrl })).toThrow(TypeError);
    expect(() => createPresage({ baseUrl })).not.toThrow(/secret/);
  });

  test("a baseUrl may end with slashes and have a path", async () => {
    server.script(json({ apps: [] }));
    await createPresage({ baseUrl: `${server.url}/behind/a/proxy//` }).apps.list();
    expect(server.received[0]?.target).toBe("/behind/a/proxy/v1/apps");
  });
});
