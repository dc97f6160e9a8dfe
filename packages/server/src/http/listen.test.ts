import { expect, test } from "bun:test";
import { listen } from "./listen.ts";

test("What goes wrong outside of a route's own care tells nothing of our inside", async () => {
  const server = listen({ host: "127.0.0.1", port: 0 });
  const fail = async () => {
    throw new Error("of the inside");
  };
  server.use({ routes: { "/": fail }, fetch: fail, lastRequestAtMs: () => 0 });
  const answer = await fetch(server.address);
  expect(answer.status).toBe(500);
  expect(await answer.text()).not.toMatch(/of the inside|listen\.test|<html/);
  await server.drain();
});
