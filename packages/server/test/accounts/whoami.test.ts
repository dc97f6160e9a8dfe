import { beforeAll, expect, test } from "bun:test";
import { WhoAmIResponse } from "@presage/contract";
import { usePresage } from "../support/presage/use-presage.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({ database, PRESAGE_UPSTREAM_URL: upstream.url });
  let stranger: Record<string, string>;

  beforeAll(async () => {
    stranger = { "x-api-key": await keyOfAnotherAccount(presage.databaseUrl) };
  });

  async function whoAmI(headers?: Record<string, string>) {
    const response = await presage.call("GET", "/v1/whoami", undefined, headers);
    expect(response.status).toBe(200);
    return WhoAmIResponse.parse(await response.json()).caller.api_key;
  }

  test("A caller gets its key with its role and scopes, and its account, and nothing else", async () => {
    const keys = await presage.call("GET", "/v1/api-keys");
    const { data } = (await keys.json()) as { data: { id: string }[] };
    expect(await whoAmI()).toStrictEqual({
      id: data[0]?.id ?? "",
      account: { id: expect.any(String), name: "default" },
      role: "owner",
      scopes: null,
    });
  });

  test("A caller of another account gets theirs", async () => {
    const [mine, theirs] = [await whoAmI(), await whoAmI(stranger)];
    expect(theirs?.account.name).toBe("another account");
    expect(theirs?.id).not.toBe(mine?.id);
    expect(theirs?.account.id).not.toBe(mine?.account.id);
  });
});
