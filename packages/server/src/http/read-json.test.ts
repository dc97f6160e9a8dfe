import { expect, test } from "bun:test";
import { readJsonBody } from "./request.ts";

const maxBodyBytes = 2_000_000;
const requestOf = (text: string) =>
  new Request("http://here.example", { method: "POST", body: JSON.stringify({ text }) });

test("A long body is read in its turn, which ends when it has been read or refused", async () => {
  const long = "x".repeat(1_000_000);
  for (const request of [
    requestOf(long),
    new Request("http://here.example", { method: "POST", body: long }),
  ]) {
    const said: string[] = [];
    const turn = Promise.withResolvers<() => void>();
    const asked = Promise.withResolvers<void>();
    const reading = readJsonBody(request, maxBodyBytes, undefined, () => {
      asked.resolve();
      return turn.promise;
    }).then(
      () => said.push("read"),
      () => said.push("refused"),
    );
    await asked.promise;
    expect(said).toEqual([]);
    turn.resolve(() => said.push("end of turn"));
    await reading;
    expect(said).toEqual(["end of turn", expect.any(String)]);
  }
});

test("A short body waits for nobody", async () => {
  const { plain } = await readJsonBody(requestOf("x"), maxBodyBytes, undefined, () => {
    throw new Error("It took a turn");
  });
  expect(plain).toEqual({ text: "x" });
});
