import { useQuery } from "@tanstack/react-query";
import { meQuery } from "../../data/me.ts";
import { usePresage } from "../../data/use-presage.ts";
import { Card } from "../../ui/card.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { Fact } from "../../ui/fact.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";

const localIssuer = "urn:presage:local";

export function Identity() {
  const presage = usePresage();
  const { data: me, error, refetch } = useQuery(meQuery(presage));
  if (error !== null) return <ErrorNotice error={error} onRetry={refetch} />;
  const placeholder = <Skeleton className="h-5 w-48" />;
  return (
    <Card title="You">
      <dl className="grid gap-x-6 gap-y-2 px-4 py-3 text-sm sm:grid-cols-[9rem_minmax(0,1fr)]">
        <Fact look="row" name="Name">
          {me ? (me.name ?? "–") : placeholder}
        </Fact>
        <Fact look="row" name="Email">
          {me ? (me.email ?? "–") : placeholder}
        </Fact>
        <Fact look="row" name="Role">
          {me ? me.role : placeholder}
        </Fact>
        <Fact look="row" name="Identity provider">
          {me ? <Issuer issuer={me.oidc_issuer} /> : placeholder}
        </Fact>
        <Fact look="row" name="Subject">
          {me ? <span className="font-mono text-xs">{me.oidc_subject}</span> : placeholder}
        </Fact>
      </dl>
    </Card>
  );
}

function Issuer({ issuer }: { issuer: string }) {
  if (issuer === localIssuer) return "None: in local mode the server has a single owner";
  return <span className="font-mono text-xs">{issuer}</span>;
}
