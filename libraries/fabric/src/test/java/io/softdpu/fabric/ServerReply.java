package io.softdpu.fabric;

import io.softdpu.fabric.wire.Frame;
import org.jspecify.annotations.Nullable;

/** Descriptions of the server's reply to a hostile client; each method waits for the reply. */
final class ServerReply {
    static final String END = "end";
    static final String WELCOME_AND_END = "welcome, end";
    static final String UNREAD = "unread";

    /** Time limit for a client's HELLO in these tests. */
    static final long SILENCE_NANOS = 5_000_000_000L;

    private ServerReply() {}

    /** The reason of a refusal. */
    static String refusal(HostilePeer peer) {
        return nameOf(peer.next());
    }

    /** The server has hung up, and sooner than on one who says nothing. */
    static String end(HostilePeer peer) {
        long begin = System.nanoTime();
        String seen = nameOf(peer.next());
        return System.nanoTime() - begin < SILENCE_NANOS ? seen : seen + ", late";
    }

    /** It let the client in, and then hung up, for what came after that. */
    static String welcomeAndEnd(HostilePeer peer) {
        return nameOf(peer.next()) + ", " + nameOf(peer.next());
    }

    /** Something has come, and stays where it is. */
    static String unread(HostilePeer peer) {
        return peer.awaitMessage() ? UNREAD : END;
    }

    private static String nameOf(@Nullable Frame frame) {
        return switch (frame) {
            case null -> END;
            case Frame.Refuse refuse -> refuse.text();
            case Frame.Welcome _ -> "welcome";
            default -> frame.getClass().getSimpleName();
        };
    }
}
