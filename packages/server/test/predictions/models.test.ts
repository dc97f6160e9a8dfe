import { beforeEach, expect, test } from "bun:test";
import { testKey } from "../support/presage/presage.ts";
import { openRawClient } from "../support/presage/raw-client.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const plain = { id: "test-model", object: "model", created: 1, owned_by: "us" };
const withSlashes = { id: "org/team/world model", object: "model", max_model_len: 32_768 };

const upstream = useUpstream();
const presage = usePresage({ PRESAGE_UPSTREAM_URL: upstream.url });
beforeEach(() => {
  upstream.models = [plain, withSlashes, { id: "100%", object: "model" }];
});

async function ask(path: string) {
  const response = await presage.call("GET", path);
  return { status: response.status, body: await response.json() };
}

test("a model is returned as the upstream lists it", async () => {
  expect(await ask("/v1/models/test-model")).toEqual({ status: 200, body: plain });
});

test("the slashes of an id may be encoded or not", async () => {
  for (const id of ["org/team/world%20model", "org%2Fteam%2Fworld%20model", "org%2fteam/world%20model"]) {
    expect(await ask(`/v1/models/${id}`)).toEqual({ status: 200, body: withSlashes });
  }
});

test("a per cent sign that encodes nothing is part of the id", async () => {
  const client = await openRawClient(presage.url);
  const { status, body } = await client.send("GET", "/v1/models/100%", { "x-api-key": testKey });
  client.socket.destroy();
  expect([status, JSON.parse(body)]).toEqual([200, { id: "100%", object: "model" }]);
});

test("a model that the upstream does not list is 404, with and without slashes", async () => {
  const detail = "The upstream lists no such model.";
  for (const id of ["nobody", "org/nobody", "org%2Fnobody", "org", ""]) {
    expect(await ask(`/v1/models/${id}`)).toEqual({
      status: 404,
      body: {
        detail,
        error: {
          message: detail,
          type: "invalid_request_error",
          param: null,
          code: "not_found",
          category: null,
          upstream_status: null,
        },
      },
    });
  }
});

test("a model needs a key, and only GET is allowed", async () => {
  const stranger = await presage.call("GET", "/v1/models/test-model", undefined, {});
  expect(stranger.status).toBe(401);
  const posted = await presage.call("POST", "/v1/models/org/model");
  expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET"]);
});
