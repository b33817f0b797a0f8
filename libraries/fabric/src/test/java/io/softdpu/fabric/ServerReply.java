package io.softdpu.fabric;

import io.softdpu.fabric.wire.Frame;
import org.jspecify.annotations.Nullable;

/** Descriptions of the server's reply to a hostile client; each method waits for the reply. */
final class ServerReply {
    static final String END = "end";
    static final String WELCOME_AND_END = "welcome, end";
    static final String UNREAD = "unread";

    private ServerReply() {}

    /** The reason of a refusal, or that the server has hung up without one. */
    static String refusal(HostilePeer peer) {
        return nameOf(peer.next());
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
