import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { deploymentsQuery } from "../../data/deployments.ts";
import { usePresage } from "../../data/use-presage.ts";
import { formatShare } from "../../format/format-number.ts";

/** Says which deployments are degraded or out. */
export function DeploymentNotes() {
  const { data = [] } = useQuery(deploymentsQuery(usePresage()));
  return data
    .filter(({ state }) => state !== "up")
    .map(({ name, state, error_rate }) => (
      <p
        key={name}
        className="rounded-lg border border-warn/30 bg-warn-soft px-4 py-2 text-sm wrap-anywhere text-warn"
      >
        <Link to="/deployments" className="underline underline-offset-2">
          Deployment {name}
        </Link>{" "}
        is {state}
        {error_rate ? `: ${formatShare(error_rate)} of its calls of the last 5 minutes failed.` : "."}
      </p>
    ));
}
