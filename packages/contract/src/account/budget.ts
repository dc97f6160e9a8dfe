import { z } from "zod";
import { instant } from "../text.ts";

const maxLimit = 1_000_000_000;
const limitField = z.number().min(0).max(maxLimit);

/** How far a budget is used up: below 80 %, from there on, or refusing what would cost more. */
export const BudgetState = z.enum(["ok", "warning", "stopped"]);
export type BudgetState = z.infer<typeof BudgetState>;

/** What an account, or one of its keys, may spend in a calendar month (UTC), and what it has spent. */
export const Budget = z
  .object({
    api_key_id: z.uuid().nullable().meta({
      description: "The key that it is for; null: the account, with all that its keys and users ask.",
    }),
    limit: limitField.meta({ description: "For one calendar month (UTC), in `currency` of the list." }),
    stops: z.boolean().meta({
      description:
        "Whether requests that ask a model are refused with 402 once the limit is reached, and those for a model without a price with 422. Otherwise the budget only warns.",
    }),
    spent: z.number().nullable().meta({
      description:
        "What this month's tokens cost at today's prices; null if the server has no price list. Other processes' spending is known within about 10 s.",
    }),
    share: z
      .number()
      .nullable()
      .meta({ description: "`spent` divided by `limit`; null if one is unknown or 0." }),
    state: BudgetState.meta({
      description:
        "`warning`: at least 80 % is spent; `stopped`: all of it, and requests are refused. Without `stops` it stays `warning`.",
    }),
  })
  .meta({ id: "Budget" });
export type Budget = z.infer<typeof Budget>;

/** Response of `GET` and `PATCH /v1/budgets`. */
export const BudgetListResponse = z
  .object({
    currency: z.string().nullable().meta({
      description: "The currency of the price list, as an ISO 4217 code; null if the server has none.",
    }),
    since: instant.meta({ description: "Start of the month." }),
    resets_at: instant.meta({ description: "When the next month begins, and spending is 0 again." }),
    data: z.array(Budget).meta({ description: "The account's budget first, if it has one." }),
  })
  .meta({ id: "BudgetListResponse" });
export type BudgetListResponse = z.infer<typeof BudgetListResponse>;

/** Body of `PATCH /v1/budgets`: sets one budget, or removes it. */
export const BudgetRequest = z
  .strictObject({
    api_key_id: z
      .guid()
      .nullish()
      .meta({ format: "uuid", description: "The key that the budget is for; null or absent: the account." }),
    limit: limitField.nullable().meta({
      description: "For one calendar month (UTC), in the currency of the price list; null: no budget.",
    }),
    stops: z.boolean().optional().meta({
      description:
        "Whether what would cost more is refused once the limit is reached. Absent: it only warns.",
    }),
  })
  .meta({ id: "BudgetRequest" });
export type BudgetRequest = z.infer<typeof BudgetRequest>;
