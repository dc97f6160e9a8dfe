import { beforeAll, describe, expect, test } from "bun:test";
import type { UsageTotals } from "../../src/usage/collect-usage.ts";
import { writeUsage } from "../../src/usage/usage-store.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { totalsOf, usageClient } from "../support/resources/usage.ts";
import { issuesOf, locationsOf } from "../support/resources/validation-issues.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  let accountId: string;
  const { list, latency } = usageClient(() => presage);

  beforeAll(async () => {
    await using store = await openStore(presage.databaseUrl);
    accountId = store.owner.account_id;
  });

  async function write(...allTotals: UsageTotals[]): Promise<void> {
    await using store = await openStore(presage.databaseUrl);
    for (const totals of allTotals) await writeUsage(store.database, new Map([["", totals]]));
  }

  describe("A period", () => {
    const at = (time: string) => new Date(`2026-01-${time}:00Z`);
    const january = Bun.randomUUIDv7();
    const ten = { promptTokens: 10, completionTokens: 1 };

    beforeAll(async () => {
      const use = { accountId, keyId: january, ...ten };
      await write(
        totalsOf(at("05T10:00"), use, use),
        totalsOf(at("05T10:30"), use),
        totalsOf(at("05T10:30"), { ...use, failure: "timeout" }),
        totalsOf(at("05T11:00"), use),
        totalsOf(at("05T11:00"), { ...use, keyId: undefined }),
        totalsOf(at("07T00:00"), use),
      );
    });

    async function starts(query: Record<string, string>) {
      const { data } = await list(query);
      return data.map(({ start, requests }) => [start, requests] as const);
    }

    test("is reported by day, without empty days", async () => {
      const { since, until, step, data } = await list({
        since: "2026-01-05T18:00:00+01:00",
        until: "2026-01-08T00:00:00",
      });
      expect({ since, until, step }).toEqual({
        since: "2026-01-05T00:00:00.000Z",
        until: "2026-01-08T00:00:00.000Z",
        step: "day",
      });
      const uncosted = { user_id: null, cost: null, unpriced_tokens: 0 };
      const row = {
        operation: "predict" as const,
        failures: {},
        cached_tokens: 0,
        example_tokens: 0,
        ...uncosted,
      };
      expect(data).toEqual([
        { ...row, start: since, api_key_id: null, requests: 1, prompt_tokens: 10, completion_tokens: 1 },
        {
          ...row,
          start: since,
          api_key_id: january,
          requests: 5,
          failures: { timeout: 1 },
          prompt_tokens: 50,
          completion_tokens: 5,
        },
        {
          ...row,
          start: "2026-01-07T00:00:00.000Z",
          api_key_id: january,
          requests: 1,
          prompt_tokens: 10,
          completion_tokens: 1,
        },
      ]);
    });

    test("is reported by hour, from the hour of its start up to its end", async () => {
      expect(
        await starts({ since: "2026-01-05T10:59:00", until: "2026-01-07T00:00:00", step: "hour" }),
      ).toEqual([
        ["2026-01-05T10:00:00.000Z", 4],
        ["2026-01-05T11:00:00.000Z", 1],
        ["2026-01-05T11:00:00.000Z", 1],
      ]);
      expect(
        await starts({ since: "2026-01-05T11:00:00", until: "2026-01-05T11:00:00", step: "hour" }),
      ).toEqual([]);
    });

    test("may have dates alone for its ends, which are their midnights", async () => {
      expect(await starts({ since: "2026-01-06", until: "2026-01-07", step: "hour" })).toEqual([]);
      expect(await starts({ since: "2026-01-05", until: "2026-01-06" })).toEqual([
        ["2026-01-05T00:00:00.000Z", 1],
        ["2026-01-05T00:00:00.000Z", 5],
      ]);
    });

    test("that is invalid is rejected at the wrong field", async () => {
      const refused = async (query: string) =>
        locationsOf(await issuesOf(await presage.call("GET", `/v1/usage${query}`)));
      const places = (type: string, name: string) => [{ type, loc: ["query", name] }];
      expect(await refused("?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z")).toEqual(
        places("value_error", "since"),
      );
      expect(await refused("?since=2024-01-02T00:00:00Z&until=2026-01-01T00:00:00Z")).toEqual(
        places("value_error", "since"),
      );
      expect(await refused("/latency?since=yesterday&until=2026-01-02T00:00:00Z")).toEqual(
        places("datetime_from_date_parsing", "since"),
      );
      expect(await refused("?step=week")).toEqual(places("literal_error", "step"));
      expect(await refused("?api_key_id=mine")).toEqual(places("uuid_parsing", "api_key_id"));
      expect(await refused("?key=mine")).toEqual(places("extra_forbidden", "key"));
      expect(await refused("/latency?api_key_id=mine")).toEqual(places("extra_forbidden", "api_key_id"));
    });
  });

  // The rows are counted after they were read.
  if (database.name === "SQLite")
    test("Too many rows for one response are rejected, and returned for a smaller query", async () => {
      const april = new Date("2026-04-01T00:00:00Z");
      const keyIds = Array.from({ length: 100_001 }, () => Bun.randomUUIDv7());
      await using store = await openStore(presage.databaseUrl);
      const allTotals = keyIds.map((keyId) => [keyId, totalsOf(april, { accountId, keyId })] as const);
      await writeUsage(store.database, new Map(allTotals));
      const query = "since=2026-04-01T00:00:00Z&until=2026-04-02T00:00:00Z";
      const answer = await presage.call("GET", `/v1/usage?${query}`);
      expect(locationsOf(await issuesOf(answer))).toEqual([{ type: "value_error", loc: ["query", "since"] }]);
      const one = await presage.call("GET", `/v1/usage?${query}&api_key_id=${keyIds[0]}`);
      expect(await one.json()).toMatchObject({ data: [{ api_key_id: keyIds[0], requests: 1 }] });
    }, 300_000);

  describe("Latencies", () => {
    const february = { since: "2026-02-01T00:00:00Z", until: "2026-02-03T00:00:00Z" };

    beforeAll(async () => {
      // 1 ms to 1,000 ms on the first day, ten times that on the second; a tenth is overhead.
      const uses = Array.from({ length: 1_000 }, (_, index) => index + 1);
      const usesOf = (factor: number) =>
        uses.map((ms) => ({ accountId, totalMs: ms * factor, upstreamMs: ms * factor * 0.9 }));
      await write(
        totalsOf(new Date("2026-02-01T05:00:00Z"), ...usesOf(1)),
        totalsOf(new Date("2026-02-02T05:00:00Z"), ...usesOf(10)),
      );
    });

    test("have quantiles within 5% of the exact ones", async () => {
      const { overall, data } = await latency(february);
      expect(data.map(({ start, count }) => [start, count])).toEqual([
        ["2026-02-01T00:00:00.000Z", 1_000],
        ["2026-02-02T00:00:00.000Z", 1_000],
      ]);
      const reported = [data[0], data[1], overall].flatMap((figures) => [
        figures?.total_ms?.p50 ?? 0,
        figures?.total_ms?.p95 ?? 0,
        figures?.overhead_ms?.p50 ?? 0,
        figures?.overhead_ms?.p95 ?? 0,
      ]);
      // On both days together 1,000 take at most 910 ms, and 1,900 at most 9,000 ms.
      const truth = [500, 950, 50, 95, 5_000, 9_500, 500, 950, 910, 9_000, 91, 900];
      for (const [index, value] of truth.entries()) {
        expect(Math.abs((reported[index] ?? 0) / value - 1)).toBeLessThan(0.05);
      }
      expect(overall.count).toBe(2_000);
    });
  });
});
