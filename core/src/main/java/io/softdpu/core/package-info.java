/**
 * The words that all of softdpu shares: the outcome of a call ({@link io.softdpu.core.Status},
 * {@link io.softdpu.core.DpuException}), where a program stands ({@link io.softdpu.core.Side}), and
 * its place at the card ({@link io.softdpu.core.Machine}).
 *
 * <p>A program opens one machine, and from it devices; memory and contexts live on devices. What is
 * used by something else cannot be closed: each of them answers IN_USE and names what lives on it,
 * so that the order of closing is the reverse of the order of opening and a mistake is told where
 * it is made. Set-up calls may come from any thread; what belongs to a progress engine belongs to
 * the thread that made the engine.
 *
 * <p>What is null where a method does not say that null will do, out of range, or closed already is
 * refused with a {@link io.softdpu.core.DpuException} before anything has changed: INVALID_VALUE,
 * naming the argument, or the status that the method names. No other exception leaves this module,
 * unless a callback of the user threw it.
 */
@NullMarked
package io.softdpu.core;

import org.jspecify.annotations.NullMarked;
