import { describe, expect, test } from "bun:test";
import { networkInterfaces } from "node:os";
import { ErrorResponse } from "@presage/contract";
import { usePresage } from "../support/presage/use-presage.ts";

const token = "the-token-of-the-metrics";
/** An address at which other machines can reach this one, if any. */
const outside = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === "IPv4" && !one.internal)?.address;

async function read(url: string, headers: Record<string, string> = {}): Promise<Response> {
  return await fetch(`${url}/metrics`, { headers });
}

async function expectRefused(response: Response, status: number): Promise<void> {
  expect(response.status).toBe(status);
  const text = await response.text();
  expect(ErrorResponse.parse(JSON.parse(text)).detail).not.toBe("");
  expect(text).not.toContain("presage_http");
}

describe("Without a token, metrics", () => {
  const presage = usePresage({ PRESAGE_HOST: "0.0.0.0" });
  const at = (host: string) => presage.url.replace("0.0.0.0", host);

  test("are available on the same machine", async () => {
    for (const host of ["127.0.0.1", "127.0.0.2"]) {
      const response = await read(at(host));
      expect(response.status).toBe(200);
      expect(await response.text()).toContain("presage_http_requests_total");
    }
  });

  test.skipIf(outside === undefined)("are denied to other machines", async () => {
    await expectRefused(await read(at(outside ?? "")), 403);
  });

  test("are denied through a proxy on the same machine", async () => {
    for (const header of ["x-forwarded-for", "forwarded", "x-real-ip", "via"]) {
      await expectRefused(await read(at("127.0.0.1"), { [header]: "127.0.0.1" }), 403);
    }
  });
});

describe("With a token, metrics", () => {
  const presage = usePresage({ PRESAGE_METRICS_TOKEN: token });

  test("are available to anyone who has it, through any proxy", async () => {
    const headers = { authorization: `Bearer ${token}`, "x-forwarded-for": "192.0.2.1" };
    expect((await read(presage.url, headers)).status).toBe(200);
  });

  test("are denied to everyone else, on the same machine too", async () => {
    for (const authorization of [undefined, "Bearer", `Bearer ${token}x`, token, `Basic ${token}`]) {
      const response = await read(presage.url, authorization === undefined ? {} : { authorization });
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      await expectRefused(response, 401);
    }
  });
});
