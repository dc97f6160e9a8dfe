import { expect, test } from "bun:test";
import fc from "fast-check";
import { createCompletionCache } from "../../src/upstream/cache.ts";
import { createUpstream } from "../../src/upstream/create-upstream.ts";
import type { CompletionRequest, Sharing } from "../../src/upstream/upstream.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";
import { isWholeRun } from "../support/whole-run.ts";

const upstream = useUpstream();
const { signal } = new AbortController();

/** An upstream with an empty cache, and how it answers a request. */
function openCached({ findsModel = false } = {}) {
  const completions = createCompletionCache({ maxBytes: 1e6, maxAgeS: 60, epoch: "" });
  const { complete } = createUpstream({
    name: "default",
    urls: [upstream.url],
    apiKey: undefined,
    model: findsModel ? undefined : "test-model",
    timeoutMs: 60_000,
    retries: 0,
    cache: { policy: "seeded", completions },
  });
  return async (request: CompletionRequest, sharing: Partial<Sharing> = {}) => {
    const options = { sharing: { accountId: "a", maxAgeS: Number.POSITIVE_INFINITY, ...sharing } };
    return (await complete(request, signal, options)).cache?.result;
  };
}

const name = fc.stringMatching(/^[a-z_]{1,8}$/).filter((text) => !["messages", "temperature"].includes(text));
const message = fc.record({
  role: fc.constantFrom("system", "user", "assistant"),
  content: fc.string({ minLength: 1 }),
});
const requests: fc.Arbitrary<CompletionRequest> = fc
  .tuple(
    fc.array(message, { minLength: 1, maxLength: 4 }),
    fc.dictionary(name, fc.jsonValue(), { maxKeys: 6 }),
  )
  .map(([messages, fields]) => {
    const { model: _, ...rest } = fields;
    return { ...rest, messages, temperature: 0 };
  });

/** Texts with one character more than `text`, at any position. */
const textBeside = (text: string) =>
  fc
    .tuple(fc.nat(text.length), fc.constantFrom("\0", " ", "é", "\u2028"))
    .map(([at, added]) => text.slice(0, at) + added + text.slice(at));

/** The same request with one change, in any of its fields. */
const changed = (request: CompletionRequest): fc.Arbitrary<CompletionRequest> => {
  const { messages, ...fields } = request;
  const ofMessages = fc.nat(messages.length - 1).chain((place) =>
    textBeside(messages[place]?.content ?? "").map((content) => ({
      ...request,
      messages: messages.map((one, at) => (at === place ? { ...one, content } : one)),
    })),
  );
  const others = Object.keys(fields).filter((field) => field !== "temperature");
  const added = fc.constantFrom("new_field", "seed").filter((field) => !(field in request));
  const changes = [
    ofMessages,
    fc.constant({ ...request, messages: [...messages, { role: "user", content: "" }] }),
    fc.constant({ ...request, model: "another-model" }),
    added.map((field) => ({ ...request, [field]: 1 })),
  ];
  if (others.length === 0) return fc.oneof(...changes);
  const removed = fc.constantFrom(...others).map((field) => {
    const { [field]: _, ...rest } = request;
    return { ...rest, messages };
  });
  const replaced = fc.constantFrom(...others).map((field) => ({ ...request, [field]: [request[field]] }));
  return fc.oneof(...changes, removed, replaced);
};

test("any change in any field is another request", async () => {
  const pairs = requests.chain((request) => fc.tuple(fc.constant(request), changed(request)));
  await fc.assert(
    fc.asyncProperty(pairs, async ([request, other]) => {
      const ask = openCached();
      expect(await ask(request)).toBe("miss");
      expect(await ask(structuredClone(request))).toBe("hit");
      expect(await ask(other)).toBe("miss");
      expect(await ask(request, { accountId: "b" })).toBe("miss");
    }),
    { numRuns: isWholeRun ? 200 : 60 },
  );
});

test("what is sampled is not taken, and a seed only where seeds are kept to", async () => {
  const ask = openCached();
  const messages = [{ role: "user", content: "hello" }];
  for (const more of [{}, { temperature: 1 }, { temperature: 0.1 }, { seed: null }])
    for (let round = 0; round < 2; round++) expect(await ask({ messages, ...more })).toBeUndefined();
  expect(await ask({ messages, temperature: 1, seed: 7 })).toBe("miss");
  expect(await ask({ messages, temperature: 1, seed: 7 })).toBe("hit");
  expect(await ask({ messages, temperature: 1, seed: 8 })).toBe("miss");
});

test("a response is not kept for a model that did not give it", async () => {
  const ask = openCached({ findsModel: true });
  /** From now on the upstream serves this model only. */
  const serve = (id: string) => {
    upstream.models = [{ id }];
    upstream.answer = ({ body: { model } }) =>
      model === id ? Response.json(completion(id)) : Response.json({}, { status: 404 });
  };
  const request = (content: string) => ({ messages: [{ role: "user", content }], temperature: 0 });
  serve("old");
  expect(await ask(request("one"))).toBe("miss");
  // Written for the old model, and sent once more for the new one.
  serve("new");
  expect(await ask(request("two"))).toBe("miss");
  serve("old");
  expect(await ask(request("three"))).toBe("miss");
  expect(await ask(request("one"))).toBe("hit");
  expect(await ask(request("two"))).toBe("miss");
});
