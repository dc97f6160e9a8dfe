import type { SpendingResponse, SpentByPerson, SpentWithKey } from "@presage/sdk";
import { clsx } from "clsx";
import { ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";
import { counted, formatCost, formatCount, formatShare } from "../../format/numbers.ts";
import { operationLabels } from "../../format/words.ts";
import { Card } from "../../ui/card.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../ui/table.tsx";

const wideOnly = "max-sm:hidden";

/** People and, on demand, their keys and the models that they asked with each key. */
export function PeopleTable({ spending }: { spending: SpendingResponse }) {
  const { people, total, currency } = spending;
  const [open, setOpen] = useState<ReadonlySet<string>>(
    () => new Set(people.length === 1 ? people.map(idOf) : []),
  );
  const toggle = (id: string) =>
    setOpen((known) => new Set(known.has(id) ? without(known, id) : [...known, id]));
  const shared = { currency, open, toggle };
  return (
    <Card
      title="By person"
      hint={`Calls of runs and of judges count for the person and the key that started them, with each try counted.${currency !== null && total.unpriced_tokens > 0 ? " A + marks costs without the tokens that have no price." : ""}`}
    >
      <Table label="Spending by person">
        <thead>
          <tr className="border-b border-line">
            <HeaderCell>Person, key, model</HeaderCell>
            <HeaderCell isNumber className={wideOnly}>
              Requests
            </HeaderCell>
            <HeaderCell isNumber className={wideOnly}>
              Failed tries
            </HeaderCell>
            <HeaderCell isNumber>Tokens</HeaderCell>
            <HeaderCell isNumber>Cost</HeaderCell>
          </tr>
        </thead>
        <tbody>
          {people.map((person) => (
            <PersonRows key={idOf(person)} person={person} {...shared} />
          ))}
        </tbody>
        {people.length > 1 && (
          <tfoot className="border-t border-line">
            <Row depth={0} figures={total} currency={currency} name="All" isStrong />
          </tfoot>
        )}
      </Table>
    </Card>
  );
}

const idOf = ({ user_id }: SpentByPerson) => user_id ?? "unknown";

function without(ids: ReadonlySet<string>, gone: string): string[] {
  return [...ids].filter((id) => id !== gone);
}

interface Opening {
  currency: string | null;
  open: ReadonlySet<string>;
  toggle(id: string): void;
}

function PersonRows({ person, ...shared }: Opening & { person: SpentByPerson }) {
  const id = idOf(person);
  const { open, toggle, currency } = shared;
  return (
    <>
      <Row
        depth={0}
        figures={person}
        currency={currency}
        name={person.user_id === null ? "People who are gone, or not known" : (person.name ?? person.user_id)}
        isStrong
        opened={{ isOpen: open.has(id), toggle: () => toggle(id) }}
      />
      {open.has(id) &&
        person.keys.map((key) => (
          <KeyRows key={key.api_key_id ?? "dashboard"} of={key} personId={id} {...shared} />
        ))}
    </>
  );
}

function KeyRows({ of, personId, open, toggle, currency }: Opening & { of: SpentWithKey; personId: string }) {
  const id = `${personId} ${of.api_key_id}`;
  const name = of.api_key_id === null ? "Dashboard" : (of.name ?? "Deleted key");
  return (
    <>
      <Row
        depth={1}
        figures={of}
        currency={currency}
        name={name}
        {...(of.models.length > 0 && { opened: { isOpen: open.has(id), toggle: () => toggle(id) } })}
      />
      {open.has(id) &&
        of.models.map((model) => (
          <Row
            key={`${model.operation} ${model.model}`}
            depth={2}
            figures={model}
            currency={currency}
            name={model.model ?? "Model not known"}
            note={operationLabels[model.operation]}
          />
        ))}
    </>
  );
}

interface RowProps {
  depth: 0 | 1 | 2;
  name: string;
  note?: string | undefined;
  figures: Pick<SpentByPerson, "prompt_tokens" | "completion_tokens" | "cost" | "unpriced_tokens"> &
    Partial<Pick<SpentByPerson, "requests" | "failed" | "example_tokens">>;
  currency: string | null;
  isStrong?: boolean;
  opened?: { isOpen: boolean; toggle(): void };
}

const indents = ["", "pl-3 sm:pl-5", "pl-9 sm:pl-14"] as const;

function Row({ depth, name, note, figures, currency, isStrong = false, opened }: RowProps) {
  const { requests, failed, cost, unpriced_tokens, example_tokens: ofExamples = 0 } = figures;
  const tokens = figures.prompt_tokens + figures.completion_tokens;
  const label: ReactNode = (
    <span className="flex min-w-0 flex-col sm:flex-row sm:items-baseline sm:gap-2">
      <span className={clsx("wrap-anywhere", isStrong && "font-medium")}>{name}</span>
      {note !== undefined && <span className="text-xs text-ink-3">{note}</span>}
      {requests !== undefined && (
        <span className="text-xs text-ink-3 sm:hidden">
          {counted(requests, "request")}
          {failed !== undefined && failed > 0 && `, ${counted(failed, "failed try", "failed tries")}`}
        </span>
      )}
    </span>
  );
  return (
    <tr className={clsx("border-b border-line last:border-b-0", depth > 0 && "bg-sunken/50")}>
      <RowHeader>
        <span className={clsx("flex min-w-0 items-center gap-2", indents[depth])}>
          {opened === undefined ? (
            <span className={clsx(depth < 2 && "pl-6")}>{label}</span>
          ) : (
            <button
              type="button"
              aria-expanded={opened.isOpen}
              onClick={opened.toggle}
              className="flex min-w-0 items-center gap-2 text-left hover:underline"
            >
              <ChevronRight
                className={clsx(
                  "size-4 shrink-0 text-ink-3 transition-transform",
                  opened.isOpen && "rotate-90",
                )}
                aria-hidden
              />
              {label}
            </button>
          )}
        </span>
      </RowHeader>
      <Cell isNumber className={wideOnly}>
        {requests === undefined ? <span className="text-ink-3">–</span> : formatCount(requests)}
      </Cell>
      <Cell isNumber className={wideOnly}>
        {requests === undefined || failed === undefined ? (
          <span className="text-ink-3">–</span>
        ) : (
          <>
            {formatCount(failed)}
            {failed > 0 && <span className="text-ink-3"> · {formatShare(failed / requests)}</span>}
          </>
        )}
      </Cell>
      <Cell isNumber>
        {formatCount(tokens)}
        {ofExamples > 0 && (
          <span
            className="text-ink-3"
            title={`About ${formatCount(ofExamples)} tokens were examples of worlds`}
          >
            {" "}
            · {formatShare(ofExamples / tokens)} examples
          </span>
        )}
      </Cell>
      <Cell isNumber>
        {currency === null ? "–" : formatCost(cost, currency)}
        {unpriced_tokens > 0 && cost !== null && (
          <span title={`Without ${formatCount(unpriced_tokens)} tokens that have no price`}> +</span>
        )}
      </Cell>
    </tr>
  );
}
