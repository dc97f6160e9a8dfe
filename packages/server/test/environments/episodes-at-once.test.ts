import { expect, test } from "bun:test";
import { testKey } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { onEachDatabase } from "../support/store/databases.ts";

onEachDatabase((database) => {
  const presage = usePresage({ database });

  // More than may wait to change something; trainers begin all episodes of a batch at once.
  test("of 250 episodes that one account starts at once none is refused", async () => {
    const starts = Array.from({ length: 250 }, (_, number) =>
      presage.call(
        "POST",
        "/v1/episodes",
        { environment: "sandbox", index: 0 },
        {
          "x-api-key": testKey,
          "idempotency-key": `start-${number}`,
        },
      ),
    );
    const statuses = (await Promise.all(starts)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([201]));
  }, 120_000);
});
