import { useQuery } from "@tanstack/react-query";
import { meQuery } from "../../data/me.ts";
import { usePresage } from "../../data/use-presage.ts";
import { describeCapture } from "../../format/describe-capture.ts";
import { Card } from "../../ui/card.tsx";
import { Fact } from "../../ui/fact.tsx";

/** What the server stores of the account's predictions. If that cannot be read, the card above says so. */
export function CaptureCard() {
  const presage = usePresage();
  const { data: me } = useQuery(meQuery(presage));
  if (me === undefined) return null;
  const { setting, max_age_days } = me.capture;
  return (
    <Card
      title="Stored predictions"
      hint="Prompts and responses, readable by everyone in your account. An API key can override the setting."
    >
      <dl className="grid gap-x-6 gap-y-2 px-4 py-3 text-sm sm:grid-cols-[9rem_minmax(0,1fr)]">
        <Fact look="row" name="The server stores">
          {describeCapture(setting)}
        </Fact>
        <Fact look="row" name="Deleted after">
          {max_age_days === 1 ? "1 day" : `${max_age_days} days`}
        </Fact>
      </dl>
    </Card>
  );
}
