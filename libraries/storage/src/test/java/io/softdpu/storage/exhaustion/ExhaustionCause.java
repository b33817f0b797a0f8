package io.softdpu.storage.exhaustion;

import io.softdpu.core.DpuException;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.testkit.ProcessLimit;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Cause of a failure, recognised by the text of the error; the first match counts. */
enum ExhaustionCause {
    /** A descriptor of this process. */
    EMFILE(
            ProcessLimit.DESCRIPTORS,
            By.ITSELF,
            "\\bEMFILE\\b|\\bToo many open files\\b"
                    + "|\\bno descriptors left: limit=open files\\b"),
    /** A descriptor of the other end's process, as reported by it. */
    EMFILE_THERE(
            ProcessLimit.DESCRIPTORS,
            By.OTHER_END,
            "\\bserver has no descriptors left: limit=open files\\b"),
    /** Address space for memory. */
    ENOMEM(ProcessLimit.ADDRESS_SPACE, By.ITSELF, "\\bENOMEM\\b"),
    /** Address space for a stack, as reported by the JVM. */
    NO_THREAD(ProcessLimit.ADDRESS_SPACE, By.ITSELF, "\\bnative thread\\b"),
    /**
     * Timeout because a bus thread has no descriptor for a connection, which only its log reports:
     * that of the other end, or for a registration that of this end. A root cause.
     */
    SILENCE_THERE(
            ProcessLimit.DESCRIPTORS,
            By.OTHER_END,
            "\\bpeer did not reply (in time: name=|to the registration in time:"
                + " consumer=)|\\bstarting the contexts took too long: .*notRunning=comch consumer"
                + " #[0-9]+ of "),
    /** Refusal of the other end, whose session continues. A root cause. */
    REFUSED_THERE(
            ProcessLimit.DESCRIPTORS,
            By.OTHER_END,
            "\\bpeer refused the consumer: id=\\d+, status=OPERATING_SYSTEM\\b"),
    /** The other end has ended, or never started. */
    GONE_THERE(
            ProcessLimit.DESCRIPTORS,
            By.CONSEQUENCE,
            "(^|\\breason=)(peer|initiator) has ended: peer="
                    + "|, reason=no process serves this name: name="
                    + "|\\breason=connection ended: connection=connection of comch (server|client) "
                    + "|\\breason=the peer of the RDMA connection has ended$"
                    + "|\\breason=the peer of the RDMA connection could not be reached:"
                    + " region is not exported, or the key is wrong: region=\\d+$"),
    /** The other end was inactive for one or several control timeouts. */
    SILENT_THERE(
            ProcessLimit.DESCRIPTORS,
            By.CONSEQUENCE,
            "\\b(no reply|no control message) received: from="
                    + "|\\b(target|service|initiator) (is inactive|did not reply): "),
    /** The role was closed because others had ended before it connected. */
    CLOSED(ProcessLimit.DESCRIPTORS, By.CONSEQUENCE, "(^|\\breason=)Closed while it ran$");

    /** Origin of a cause, and whether it is a root cause. */
    private enum By {
        /** The exhausted process. */
        ITSELF,
        /** A process that needed a resource of the exhausted one. */
        OTHER_END,
        /** A process that only noticed the end of another, which has its own cause. */
        CONSEQUENCE
    }

    /** A text of another participant, behind what the receiver says of it. */
    private static final Pattern CUT =
            Pattern.compile("(.*?\\breason=)?(?<head>.*)…\\(\\+\\d+ more\\)…(?<tail>.*)");

    private final ProcessLimit limit;
    private final By by;
    private final Pattern words;

    ExhaustionCause(ProcessLimit limit, By by, String words) {
        this.limit = limit;
        this.by = by;
        this.words = Pattern.compile(words);
    }

    /**
     * The cause of a failure; null for an unexpected failure or text.
     *
     * @param all the failures of all participants: a text that another has sent is cut in the
     *     middle, and the sender has the whole
     */
    static @Nullable ExhaustionCause of(Throwable failure, List<Throwable> all) {
        if (failure instanceof DpuException || failure instanceof FabricException) {
            String message = String.valueOf(failure.getMessage());
            for (ExhaustionCause wanting : values()) {
                if (wanting.words.matcher(message).find()) {
                    return wanting;
                }
            }
            Matcher cut = CUT.matcher(message);
            if (cut.matches()) {
                List<Throwable> others = all.stream().filter(one -> one != failure).toList();
                for (Throwable other : others) {
                    String text = String.valueOf(other.getMessage());
                    if (text.contains(cut.group("head")) && text.endsWith(cut.group("tail"))) {
                        ExhaustionCause cause = of(other, others);
                        if (cause != null) {
                            return cause;
                        }
                    }
                }
            }
        }
        return null;
    }

    /** Whether the cause is legal for a lowered limit and a subject. */
    boolean mayBeSaid(ProcessLimit lowered, Subject subject) {
        return lowered == limit && (by == By.ITSELF || subject.hasOtherEnd());
    }

    /** Whether it is a root cause. */
    boolean isReason() {
        return by != By.CONSEQUENCE;
    }
}
