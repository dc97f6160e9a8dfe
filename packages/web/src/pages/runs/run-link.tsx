import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { runNameQuery } from "../../data/runs/run-names.ts";
import { usePresage } from "../../data/use-presage.ts";
import { Skeleton } from "../../ui/skeleton.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";

/** What a result names as its run: the name of one that Presage has, with a link to its page, otherwise the text. */
export function RunLink({ id, tabIndex }: { id: string; tabIndex?: number }) {
  const { data: name, isLoading } = useQuery(runNameQuery(usePresage(), id));
  if (isLoading) return <Skeleton className="h-3 w-24" />;
  if (name == null) return <InlineText text={id} />;
  return (
    <Link
      to="/runs/$runId"
      params={{ runId: id }}
      title={name}
      tabIndex={tabIndex}
      className="block truncate text-accent-ink underline-offset-2 hover:underline"
    >
      <InlineText text={name} />
    </Link>
  );
}

/** The same where it cannot be a link. */
export function RunName({ id }: { id: string }) {
  const { data: name } = useQuery(runNameQuery(usePresage(), id));
  return <InlineText text={name ?? id} />;
}
