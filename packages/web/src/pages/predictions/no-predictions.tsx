import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { MessagesSquare, SearchX } from "lucide-react";
import { meQuery } from "../../data/me.ts";
import { usePresage } from "../../data/use-presage.ts";
import { describeCapture } from "../../format/describe-capture.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { noFilters, type PredictionLog } from "./use-log.ts";

/** Why the log is empty, and how predictions come into it. */
export function NoPredictions({ log: { isFiltered, change } }: { log: PredictionLog }) {
  const presage = usePresage();
  const { data: me } = useQuery(meQuery(presage));
  if (isFiltered) {
    return (
      <EmptyState
        icon={SearchX}
        title="No stored prediction matches these filters"
        actions={<Button onClick={() => change(noFilters)}>Clear the filters</Button>}
      >
        Remove a filter, or choose a longer period.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={MessagesSquare}
      title="No predictions are stored"
      actions={
        <>
          <Link to="/api-keys" className={buttonClass({ variant: "primary" })}>
            Choose for an API key
          </Link>
          <a href="/docs" className={buttonClass({})}>
            API reference
          </a>
        </>
      }
    >
      <p>
        {me === undefined
          ? "Prompts may contain anything, so live traffic is stored only on request."
          : `This server stores ${describeCapture(me.capture.setting)} of live traffic.`}{" "}
        An API key’s setting wins over it. For the whole server, start it with
      </p>
      <div className="mx-auto mt-2 max-w-80 text-left">
        <CodeBlock code="PRESAGE_CAPTURE=all npm start" label="the command" />
      </div>
      <p className="mt-2">
        <code className="font-mono text-xs">failures</code> and shares such as{" "}
        <code className="font-mono text-xs">0.01</code> are possible too. Predictions of runs are always
        stored.
      </p>
    </EmptyState>
  );
}
