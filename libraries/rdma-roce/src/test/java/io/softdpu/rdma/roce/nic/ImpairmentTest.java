package io.softdpu.rdma.roce.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Text of an impairment. */
class ImpairmentTest {
    private static Impairment parse(String text) {
        return Impairment.parse("option=--impair", text);
    }

    @Test
    void shouldParseAllItems() {
        assertThat(
                        parse(
                                "seed=-7,loss=0.01,dup=.5,reorder=1,delay=200us,corrupt=0.000001,"
                                        + "partition=1s-1500ms"))
                .isEqualTo(
                        new Impairment(
                                0.01, 0.5, 1, 0.000001, 200_000, 1_000_000_000, 1_500_000_000, -7));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "loss=0.01,dup=0.5,reorder=1,delay=200us,corrupt=0.000001,partition=1s-1500ms,seed=7",
                "partition=0s-1us,seed=1",
                "delay=10s,seed=1"
            })
    void shouldBeWrittenAsItIsParsed(String text) {
        assertThat(parse(text)).hasToString(text);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "\"\"|item=|items of loss",
                "loss|item=loss|items of loss",
                "los=0.1|item=los=0.1|items of loss",
                "loss=0.1,loss=0.2|item=loss=0.2|each item once",
                "loss=1.5|loss=1.5|a probability from 0 to 1",
                "dup=-1|dup=-1|a probability from 0 to 1",
                "reorder=NaN|reorder=NaN|a probability from 0 to 1",
                "corrupt=|corrupt=|a probability from 0 to 1",
                "delay=11s|delay=11s|a time up to 10s",
                "delay=5|delay=5|a time up to 10s",
                "partition=1s|partition=1s|FROM-TO",
                "partition=2s-1s|partition=2s-1s|FROM-TO",
                "loss=0.1,seed=x|seed=x|a whole number",
                "seed=3|impairment=seed=3|an item besides seed that is not 0",
                "loss=0|impairment=loss=0|an item besides seed that is not 0"
            })
    void shouldRefuseAnotherText(String text, String found, String expected) {
        assertThatThrownBy(() -> parse(text))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContaining(
                        "impairment is illegal: option=--impair, "
                                + found
                                + ", expected="
                                + expected);
    }
}
