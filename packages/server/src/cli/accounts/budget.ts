import { type Budget, type BudgetListResponse, BudgetRequest } from "@presage/contract";
import type { Command } from "commander";
import { CommandError, examples, onServer, printNotice } from "../command.ts";
import { configure } from "../config.ts";
import type { ConnectionOptions } from "../connect.ts";
import { onConnection, withConnection } from "../open-connection.ts";
import { readNumber } from "../run-options.ts";
import { printTable } from "../run-tables.ts";
import { atRight, type Column, dayOf, printJsonOr } from "../terminal.ts";

interface BudgetOptions extends ConnectionOptions {
  key?: string;
  stop?: boolean;
  json?: boolean;
}

const ofKey = ["--key <id>", "the budget of this API key, by its id, instead of the account's"] as const;
const asJson = ["--json", "print the budgets as JSON"] as const;

const onBudgets = { purpose: "budgets" } as const;

export function addBudgetCommands(program: Command): void {
  const budget = program
    .command("budget")
    .summary("show and set what an account may spend in a month")
    .description("show and set what the account, or one of its API keys, may spend in a calendar month (UTC)")
    .addHelpText(...examples("presage budget show", "presage budget set 500 --stop"));
  budget
    .command("show")
    .description("show the budgets, and what is spent of them this month")
    .option(...asJson)
    .option(...onServer)
    .addHelpText(...examples("presage budget show", "presage budget show --json"))
    .action(
      onConnection(
        async ({ call }, { json }: BudgetOptions) =>
          printJsonOr(json, await call((client) => client.budgets.list()), print),
        onBudgets,
      ),
    );
  budget
    .command("set <amount>")
    .description("set a budget, in the currency of the price list (PRESAGE_PRICES)")
    .option(...ofKey)
    .option("--stop", "refuse what would cost more once it is spent; without it, the budget only warns")
    .option(...asJson)
    .option(...onServer)
    .addHelpText(
      ...examples(
        "presage budget set 500 --stop",
        "presage budget set 50 --key 0199f3c4-6f7e-7a31-9d0b-5b1c2d3e4f50",
      ),
    )
    .action((amount: string, options: BudgetOptions) =>
      changeBudget(readNumber("The amount", amount), options),
    );
  budget
    .command("clear")
    .description("remove a budget")
    .option(...ofKey)
    .option(...asJson)
    .option(...onServer)
    .addHelpText(...examples("presage budget clear", "presage budget clear --server http://127.0.0.1:8080"))
    .action((options: BudgetOptions) => changeBudget(null, options));
}

/** Sets a budget, or removes it if `limit` is null, and shows all budgets that there are afterwards. */
async function changeBudget(limit: number | null, { key, stop = false, json, ...options }: BudgetOptions) {
  if (!BudgetRequest.shape.limit.safeParse(limit).success)
    throw new CommandError("A budget is an amount from 0 to 1000000000.");
  if (!BudgetRequest.shape.api_key_id.safeParse(key).success)
    throw new CommandError("--key takes the id of an API key: presage keys list");
  const request = { limit, ...(key !== undefined && { api_key_id: key }), ...(stop && { stops: true }) };
  await withConnection(
    configure(),
    options,
    async ({ call }) => printJsonOr(json, await call(({ budgets }) => budgets.set(request)), print),
    onBudgets,
  );
}

function print({ data, currency, since, resets_at }: BudgetListResponse): void {
  if (data.length === 0) {
    process.stdout.write("There is no budget.\n");
    return;
  }
  printTable(columnsIn(currency ?? ""), data);
  printNotice(`Spent since ${dayOf(since)}; the next month begins on ${dayOf(resets_at)} (UTC).`);
  if (currency === null) printNotice("Without a price list (PRESAGE_PRICES), what is spent is not known.");
}

function columnsIn(currency: string): readonly Column<Budget>[] {
  const amount = (value: number | null) =>
    value === null ? "unknown" : `${Number(value.toFixed(4))} ${currency}`.trim();
  return [
    {
      heading: "budget of",
      text: ({ api_key_id }) => (api_key_id === null ? "the account" : `key ${api_key_id}`),
    },
    atRight("limit", ({ limit }) => amount(limit)),
    atRight("spent", ({ spent }) => amount(spent)),
    atRight("share", ({ share }) => (share === null ? "–" : `${(100 * share).toFixed(1)} %`)),
    { heading: "state", text: ({ state }) => state },
    { heading: "at the limit", text: ({ stops }) => (stops ? "stops" : "warns") },
  ];
}
