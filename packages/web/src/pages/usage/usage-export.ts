import type { UsageFailure, UsageResponse } from "@presage/sdk";
import { useMutation } from "@tanstack/react-query";
import { usePresage } from "../../data/client.ts";
import { countFailures } from "../../data/usage.ts";
import { failureLabels } from "../../format/errors.ts";
import { type Period, periodBounds } from "../../format/times.ts";

/** Saves requests, tokens and costs by key, operation and day. */
export function useUsageDownload(period: Period) {
  const presage = usePresage();
  return useMutation({
    async mutationFn() {
      const [usage, { saveFile, writeCsv }] = await Promise.all([
        presage.usage.list(periodBounds(period, Date.now())),
        import("../../ui/save-file.ts"),
      ]);
      const name = `presage-usage-${period}-${usage.until.slice(0, 10)}.csv`;
      saveFile(name, writeCsv(usageRecords(usage)), "text/csv");
    },
  });
}

const reasons = Object.keys(failureLabels) as UsageFailure[];

/** The names of the columns, followed by one record per row, with the name of its key. */
export function usageRecords({ data, api_keys, step, currency }: UsageResponse): string[][] {
  const nameOf = new Map(api_keys.map(({ id, name }) => [id, name]));
  const head = [
    `${step}_utc`,
    "api_key_id",
    "api_key_name",
    "operation",
    "requests",
    "failed",
    ...reasons.map((reason) => `failed_${reason}`),
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "example_tokens",
    ...(currency === null ? [] : ["cost", "currency", "unpriced_tokens"]),
  ];
  const records = data.map((row) => [
    row.start,
    row.api_key_id ?? "",
    row.api_key_id === null ? "Dashboard" : (nameOf.get(row.api_key_id) ?? ""),
    row.operation,
    row.requests,
    countFailures(row),
    ...reasons.map((reason) => row.failures[reason] ?? 0),
    row.prompt_tokens ?? "",
    row.completion_tokens ?? "",
    row.cached_tokens ?? "",
    row.example_tokens,
    ...(currency === null ? [] : [row.cost ?? "", currency, row.unpriced_tokens]),
  ]);
  return [head, ...records.map((record) => record.map(String))];
}
