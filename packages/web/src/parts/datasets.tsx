import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { datasetNamesQuery } from "../data/runs/compared-runs.ts";
import { usePresage } from "../data/use-presage.ts";
import { InlineText } from "../ui/untrusted-text/inline-text.tsx";

/** What a result names as its dataset: the name of one that Presage has, with a link to its page, otherwise the text. */
export function DatasetLink({ id }: { id: string }) {
  const name = useDatasetName(id);
  if (name === undefined) return <InlineText text={id} />;
  return (
    <Link
      to="/datasets/$datasetId"
      params={{ datasetId: id }}
      className="text-accent-ink underline-offset-2 hover:underline"
    >
      <InlineText text={name} />
    </Link>
  );
}

/** The same where it cannot be a link. */
export function DatasetName({ id }: { id: string }) {
  return <InlineText text={useDatasetName(id) ?? id} />;
}

function useDatasetName(id: string): string | undefined {
  const { data: names } = useQuery(datasetNamesQuery(usePresage()));
  return names?.get(id);
}
