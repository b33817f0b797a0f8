package io.softdpu.storage.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;

/** Descriptions of a worker's contexts in messages. */
class ContextSetTest {
    private final ContextSet contexts = new ContextSet();

    @Test
    void shouldNameThoseThatAreNotInTheState() {
        contexts.add(context("consumer", ContextState.STARTING));
        contexts.add(context("producer", ContextState.RUNNING));
        contexts.add(context("rdma", ContextState.IDLE));

        assertThat(contexts.notIn(ContextState.RUNNING))
                .isEqualTo("consumer STARTING and rdma IDLE");
    }

    @Test
    void shouldSayNothingWhereAllAreInTheState() {
        contexts.add(context("producer", ContextState.RUNNING));

        assertThat(contexts.notIn(ContextState.RUNNING)).isEmpty();
    }

    private static Context context(String name, ContextState state) {
        return (Context)
                Proxy.newProxyInstance(
                        Context.class.getClassLoader(),
                        new Class<?>[] {Context.class},
                        (proxy, method, arguments) ->
                                switch (method.getName()) {
                                    case "state" -> state;
                                    case "toString" -> name;
                                    default ->
                                            throw new UnsupportedOperationException(
                                                    method.getName());
                                });
    }
}
