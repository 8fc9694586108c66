package resolver

import "fmt"

// String returns the change as an instruction.
func (c Change) String() string { return c.instruction("subscription " + c.Subscription) }

// instruction returns the change of what a subject names as an instruction.
func (c *Change) instruction(subject string) string {
	switch c.Kind {
	case AddCatalog:
		return c.Advice
	case ChangePackage:
		text := fmt.Sprintf("set the package of %s to %s", subject, c.To)
		if c.Channel != "" {
			text += ", which continues it under another name, and its channel to " + c.Channel
		}
		return text
	case ChangeStartingCSV:
		text := fmt.Sprintf("set the startingCSV of %s to %s", subject, c.To)
		if c.Manual {
			text += " and its installPlanApproval to Manual, and approve its install plan"
		}
		return text
	case ChangePin, ExcludeNewer:
		return c.Advice
	case ClearStartingCSV:
		return "remove the startingCSV of " + subject
	case LiftPolicy:
		return fmt.Sprintf("remove the policy: %s", c.To)
	case ChangeChannel:
		text := fmt.Sprintf("set the channel of %s to %s", subject, c.To)
		switch c.ChannelIs {
		case channelDefault:
			text += " (the default channel)"
		case channelNewest:
			text += " (the channel with the newest version)"
		}
		if c.DropStartingCSV {
			text += " and remove its startingCSV"
		}
		if c.Manual {
			text += " and its installPlanApproval to Manual"
		}
		return text + c.starts()
	case ChangeCatalog:
		if c.Channel != "" {
			return fmt.Sprintf("switch %s to channel %s of catalog %s", subject, c.Channel, c.To) + c.starts()
		}
		return fmt.Sprintf("switch %s to catalog %s", subject, c.To) + c.starts()
	case AdoptOperator:
		if c.To == "" {
			return fmt.Sprintf("let %s own %s, so that it can be upgraded", subject, c.Operator)
		}
		return fmt.Sprintf("adopt %s: create a subscription to package %s that owns it, so that it can be upgraded", c.Operator, c.To)
	case ChangeTargets:
		if c.To == "" {
			return "make the operator group select all namespaces"
		}
		return fmt.Sprintf("make the operator group select only namespace %s", c.To)
	case DropSubscription:
		if c.Operator != "" {
			return fmt.Sprintf("delete only %s; %s keeps running, but OLM never upgrades it", subject, c.Operator)
		}
		return "delete " + subject
	case RemoveSubscribed:
		return fmt.Sprintf("delete %s and its operator %s", subject, c.Operator)
	case RemoveOperator:
		return fmt.Sprintf("uninstall %s", c.Operator)
	case Reinstall:
		from := "channel " + c.Channel
		if c.To != "" {
			from += " of catalog " + c.To
		}
		return fmt.Sprintf("remove %s and install it again from %s", c.Operator, from)
	case RelaxRequirement:
		return "upstream: " + c.Advice
	}
	return string(c.Kind)
}

// starts returns the new startingCSV of the change as the end of an instruction, or "".
func (c *Change) starts() string {
	if c.StartingCSV == "" {
		return ""
	}
	return " and its startingCSV to " + c.StartingCSV
}
