package io.softdpu.storage;

import io.softdpu.core.Status;
import io.softdpu.storage.wire.Blob;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.wire.RdmaConnectionRole;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;

/**
 * Table of the tests of wrong control messages: each state of a role, which is the message that it
 * waits for, and each message type. States come from recorded sessions, types from the enum, so the
 * table is complete.
 */
public final class WrongMessages {
    /** Status and text of each wrong message that is an error_response. */
    public static final ControlPayload.ErrorResponse ERROR =
            ControlPayload.ErrorResponse.of(Status.DRIVER, "firmware: code=7");

    private static final Blob BYTES = Blob.of(new byte[] {1, 2, 3});

    private WrongMessages() {}

    /**
     * A cell of the table.
     *
     * @param state the index of the message that is waited for
     * @param expected its type
     * @param wrong the type of the message that is received instead
     */
    public record Case(int state, ControlMessageType expected, ControlMessageType wrong) {
        /** The reason that the receiving role has to report. */
        public String reason() {
            return "got=" + wrong.wireName() + ", expected=" + expected.wireName();
        }

        /**
         * Whether it is an error_response, which is not a wrong message but the reason of the end.
         */
        public boolean isError() {
            return wrong == ControlMessageType.ERROR_RESPONSE;
        }

        public Status status() {
            return isError() ? ERROR.status() : Status.UNEXPECTED;
        }
    }

    /**
     * All cells, or in the short form some: each type at least once, and nearly each state.
     *
     * @param states the types that are waited for, one after the other
     */
    public static List<Case> cases(List<ControlMessageType> states, SeededRandom random) {
        List<ControlMessageType> types = new ArrayList<>(List.of(ControlMessageType.values()));
        Collections.shuffle(types, new java.util.Random(random.nextLong()));
        List<Case> cases = new ArrayList<>();
        if (Soak.isLong()) {
            for (int state = 0; state < states.size(); state++) {
                for (ControlMessageType type : types) {
                    addWrong(cases, state, states.get(state), type);
                }
            }
        } else {
            // A diagonal through the table; where it meets what is right, the next row takes it.
            for (int i = 0; i < Math.max(types.size(), states.size()); i++) {
                ControlMessageType type = types.get(i % types.size());
                int state = i % states.size();
                if (!addWrong(cases, state, states.get(state), type)) {
                    int other = (state + 1) % states.size();
                    addWrong(cases, other, states.get(other), type);
                }
            }
        }
        return cases;
    }

    private static boolean addWrong(
            List<Case> cases, int state, ControlMessageType expected, ControlMessageType type) {
        return type != expected && cases.add(new Case(state, expected, type));
    }

    /** All types of requests. */
    public static List<ControlMessageType> requests() {
        return Stream.of(ControlMessageType.values())
                .filter(type -> type.wireName().endsWith("_request"))
                .toList();
    }

    /** A legal payload of a type. */
    public static ControlPayload payload(ControlMessageType type) {
        return switch (type) {
            case ERROR_RESPONSE -> ERROR;
            case QUERY_STORAGE_REQUEST -> new ControlPayload.QueryStorageRequest();
            case QUERY_STORAGE_RESPONSE -> new ControlPayload.QueryStorageResponse(8192, 4096);
            case INIT_STORAGE_REQUEST -> new ControlPayload.InitStorageRequest(1, 1, BYTES);
            case INIT_STORAGE_RESPONSE -> new ControlPayload.InitStorageResponse();
            case CREATE_RDMA_CONNECTION_REQUEST ->
                    new ControlPayload.CreateRdmaConnectionRequest(
                            0, RdmaConnectionRole.IO_DATA, BYTES);
            case CREATE_RDMA_CONNECTION_RESPONSE ->
                    new ControlPayload.CreateRdmaConnectionResponse(
                            0, RdmaConnectionRole.IO_DATA, BYTES);
            case START_STORAGE_REQUEST -> new ControlPayload.StartStorageRequest();
            case START_STORAGE_RESPONSE -> new ControlPayload.StartStorageResponse();
            case STOP_STORAGE_REQUEST -> new ControlPayload.StopStorageRequest();
            case STOP_STORAGE_RESPONSE -> new ControlPayload.StopStorageResponse();
            case SHUTDOWN_REQUEST -> new ControlPayload.ShutdownRequest();
            case SHUTDOWN_RESPONSE -> new ControlPayload.ShutdownResponse();
            case HELLO -> new ControlPayload.Hello();
        };
    }
}
