(* The rules that proofs use, each proved here once, and the tactics that apply them. *)
Require Import Reals ZArith Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
Require Import semantics.
Open Scope R_scope.

(* Intervals with integers of any size: without i_prec, they would rest on axioms about floating-point numbers. *)
Ltac enclosed := interval with (i_prec 64).

(* ------------------------------------------------------------------ the normal law is positive *)
Lemma bell_continuous t : continuous (fun t => exp (- (t * t) / 2)) t.
Proof. apply (ex_derive_continuous (fun t => exp (- (t * t) / 2))). auto_derive. exact I. Qed.
Lemma bell_integrable a b : ex_RInt (fun t => exp (- (t * t) / 2)) a b.
Proof. apply (ex_RInt_continuous (fun t => exp (- (t * t) / 2))). intros. apply bell_continuous. Qed.
(* The square of the area from 0 to x, and twice what is left, do not change with x: they are pi / 2. *)
Definition bell_area x := RInt (fun t => exp (- (t * t) / 2)) 0 x.
Definition bell_rest x := RInt (fun t => exp (- (x * x * (1 + t * t)) / 2) / (1 + t * t)) 0 1.
Lemma square_plus t : 0 < 1 + t * t.
Proof. pose proof (Rle_0_sqr t). unfold Rsqr in *. lra. Qed.
Lemma bell_rest_integrable x : ex_RInt (fun t => exp (- (x * x * (1 + t * t)) / 2) / (1 + t * t)) 0 1.
Proof.
  apply (ex_RInt_continuous (fun t => exp (- (x * x * (1 + t * t)) / 2) / (1 + t * t))). intros t _.
  apply (ex_derive_continuous (fun t => exp (- (x * x * (1 + t * t)) / 2) / (1 + t * t))). auto_derive. apply Rgt_not_eq, square_plus.
Qed.
Lemma bell_rest_slope x : is_derive bell_rest x (RInt (fun t => - x * exp (- (x * x * (1 + t * t)) / 2)) 0 1).
Proof.
  assert (D : forall t y, is_derive (fun u => exp (- (u * u * (1 + t * t)) / 2) / (1 + t * t)) y (- y * exp (- (y * y * (1 + t * t)) / 2))).
  { intros t y. pose proof (square_plus t). auto_derive; [lra |]. unfold Rdiv.
    repeat match goal with |- context [exp ?a] => match goal with |- context [exp ?b] =>
      tryif constr_eq a b then fail else replace (exp b) with (exp a) by (f_equal; field) end end. field. lra. }
  unfold bell_rest. evar_last.
  { apply (is_derive_RInt_param (fun u t => exp (- (u * u * (1 + t * t)) / 2) / (1 + t * t))).
    - apply filter_forall. intros y t _. eexists. apply D.
    - intros t _. apply continuity_2d_pt_ext with (fun u v => - u * exp (- (u * u * (1 + v * v)) / 2)).
      { intros u v. symmetry. apply is_derive_unique, D. }
      apply continuity_2d_pt_mult; [apply continuity_2d_pt_opp, continuity_2d_pt_id1 |].
      apply (continuity_1d_2d_pt_comp exp (fun u v => - (u * u * (1 + v * v)) / 2)).
      { apply derivable_continuous_pt, derivable_pt_exp. }
      apply continuity_2d_pt_mult; [| apply continuity_2d_pt_const].
      apply continuity_2d_pt_opp. apply continuity_2d_pt_mult.
      + apply continuity_2d_pt_mult; apply continuity_2d_pt_id1.
      + apply continuity_2d_pt_plus; [apply continuity_2d_pt_const |]. apply continuity_2d_pt_mult; apply continuity_2d_pt_id2.
    - apply filter_forall. intros y. apply bell_rest_integrable. }
  apply RInt_ext. intros t _. apply is_derive_unique, D.
Qed.
Lemma bell_area_slope x : is_derive bell_area x (exp (- (x * x) / 2)).
Proof.
  unfold bell_area. auto_derive; [| unfold Rdiv; ring].
  repeat split; [apply bell_integrable | apply filter_forall; intros; apply continuity_pt_filterlim, bell_continuous].
Qed.
Lemma bell_scaled x : RInt (fun t => - x * exp (- (x * x * (1 + t * t)) / 2)) 0 1 = - (exp (- (x * x) / 2) * bell_area x).
Proof.
  unfold bell_area.
  pose proof (RInt_comp_lin (fun u => exp (- (u * u) / 2)) x 0 0 1) as C.
  replace (x * 0 + 0) with 0 in C by ring. replace (x * 1 + 0) with x in C by ring.
  rewrite <- C by apply bell_integrable.
  rewrite <- (RInt_scal (V := R_CompleteNormedModule)), <- (RInt_opp (V := R_CompleteNormedModule)).
  - apply RInt_ext. intros t _. unfold opp, scal, mult; simpl; unfold mult; simpl.
    replace (- (x * x * (1 + t * t)) / 2) with (- (x * x) / 2 + - ((x * t + 0) * (x * t + 0)) / 2) by field. rewrite exp_plus. ring.
  - apply (ex_RInt_continuous (V := R_CompleteNormedModule)). intros t _.
    apply (ex_derive_continuous (fun t : R => exp (- (x * x) / 2) * (x * exp (- ((x * t + 0) * (x * t + 0)) / 2)))). auto_derive. exact I.
  - apply (ex_RInt_continuous (V := R_CompleteNormedModule)). intros t _.
    apply (ex_derive_continuous (fun t : R => x * exp (- ((x * t + 0) * (x * t + 0)) / 2))). auto_derive. exact I.
Qed.
Lemma bell_total x : bell_area x * bell_area x + 2 * bell_rest x = PI / 2.
Proof.
  assert (Z : bell_area 0 * bell_area 0 + 2 * bell_rest 0 = PI / 2).
  { unfold bell_area. rewrite RInt_point. unfold zero; simpl. unfold bell_rest.
    rewrite (RInt_ext _ (fun t => / (1 + t * t))).
    2: { intros t _. replace (- (0 * 0 * (1 + t * t)) / 2) with 0 by field. rewrite exp_0. apply Rmult_1_l. }
    rewrite (is_RInt_unique _ 0 1 (atan 1 - atan 0)).
    - rewrite atan_1, atan_0. field.
    - apply (is_RInt_derive atan).
      + intros t _. replace (/ (1 + t * t)) with (/ (1 + t ^ 2)) by (f_equal; ring). apply is_derive_Reals, derivable_pt_lim_atan.
      + intros t _. apply (ex_derive_continuous (fun t => / (1 + t * t))). auto_derive. apply Rgt_not_eq, square_plus. }
  set (f := fun x => bell_area x * bell_area x + 2 * bell_rest x).
  assert (D : forall y, is_derive f y 0).
  { intros y. unfold f. auto_derive.
    { repeat split; eexists; match goal with
      | |- is_derive (fun x => bell_area x) _ _ => apply bell_area_slope
      | |- is_derive (fun x => bell_rest x) _ _ => apply bell_rest_slope end. }
    change (Derive (fun x => bell_area x) y) with (Derive bell_area y). change (Derive (fun x => bell_rest x) y) with (Derive bell_rest y).
    rewrite (is_derive_unique bell_area y _ (bell_area_slope y)), (is_derive_unique bell_rest y _ (bell_rest_slope y)), bell_scaled. ring. }
  destruct (MVT_gen f 0 x (fun _ => 0)) as [c [_ E]].
  - intros; apply D.
  - intros; apply derivable_continuous_pt. exists 0. apply is_derive_Reals, D.
  - fold (f x). fold (f 0) in Z. lra.
Qed.
Lemma bell_rest_positive x : 0 < bell_rest x.
Proof.
  apply RInt_gt_0; [lra | |].
  - intros t _. apply Rdiv_lt_0_compat; [apply exp_pos | apply square_plus].
  - intros t _. apply (ex_derive_continuous (fun t => exp (- (x * x * (1 + t * t)) / 2) / (1 + t * t))). auto_derive. apply Rgt_not_eq, square_plus.
Qed.
Lemma Phi_positive x : 0 < Phi x.
Proof.
  pose proof (bell_total x). pose proof (bell_rest_positive x). pose proof PI_RGT_0. unfold Phi. fold (bell_area x).
  assert (P : 0 < sqrt (2 * PI)) by (apply sqrt_lt_R0; lra). pose proof (sqrt_sqrt (2 * PI) ltac:(lra)) as Q.
  set (s := sqrt (2 * PI)) in *. clearbody s. assert (Rabs (bell_area x) < s / 2).
  { apply Rsqr_lt_abs_0 || idtac. apply Rabs_def1; nra. }
  apply Rabs_def2 in H2. apply Rmult_lt_reg_r with s; [exact P |]. unfold Rdiv. rewrite Rmult_plus_distr_r, Rmult_assoc, Rmult_assoc, Rinv_l by lra. lra.
Qed.
Lemma erfc_positive x : 0 < erfc x.
Proof. unfold erfc. pose proof (Phi_positive (- (x * sqrt 2))). lra. Qed.

(* ------------------------------------------------------------------ signs *)
Lemma nonzero_of_positive x : 0 < x -> x <> 0.
Proof. lra. Qed.
Lemma inverse_nonnegative x : 0 <= x -> 0 <= / x.
Proof.
  intros [H | H]; [left; now apply Rinv_0_lt_compat | rewrite <- H, Rinv_0; lra].
Qed.
Lemma square_nonnegative x : 0 <= x ^ 2.
Proof. nra. Qed.
Lemma plus_positive_left a b : 0 < a -> 0 <= b -> 0 < a + b.
Proof. lra. Qed.
Lemma plus_positive_right a b : 0 <= a -> 0 < b -> 0 < a + b.
Proof. lra. Qed.
Lemma plus_nonnegative a b : 0 <= a -> 0 <= b -> 0 <= a + b.
Proof. lra. Qed.

(* The sign of what is made of parts whose signs are known. *)
Ltac sign :=
  match goal with
  | H : ?said |- ?said => exact H
  | |- ?x <> 0 => first [apply nonzero_of_positive; solve [sign] | apply Rlt_not_eq; solve [lra] | apply Rmult_integral_contrapositive_currified; solve [sign]
                        | apply pow_nonzero; solve [sign] | apply Rinv_neq_0_compat; solve [sign] | lra]
  | |- 0 < ?a * ?b => apply Rmult_lt_0_compat; sign
  | |- 0 < ?a / ?b => apply Rdiv_lt_0_compat; sign
  | |- 0 < / ?a => apply Rinv_0_lt_compat; sign
  | |- 0 < ?a ^ ?n => apply pow_lt; sign
  | |- 0 < sqrt ?a => apply sqrt_lt_R0; sign
  | |- 0 < exp ?a => apply exp_pos
  | |- 0 < Phi ?a => apply Phi_positive
  | |- 0 <= Phi ?a => left; apply Phi_positive
  | |- 0 < erfc ?a => apply erfc_positive
  | |- 0 < PI => apply PI_RGT_0
  | |- 0 <= PI => left; apply PI_RGT_0
  | |- 0 < powerRZ ?a ?n => apply powerRZ_lt; sign
  | |- 0 <= powerRZ ?a ?n => apply powerRZ_le; sign
  | |- 0 < ln ?a => rewrite <- ln_1; apply ln_increasing; lra
  | |- 0 <= ln ?a => left; sign
  | |- 0 < ?a + ?b => first [lra | apply plus_positive_left; solve [sign] | apply plus_positive_right; solve [sign]]
  | |- 0 < Rmax ?a ?b => unfold Rmax; destruct (Rle_dec a b); sign
  | |- 0 < Rmin ?a ?b => unfold Rmin; destruct (Rle_dec a b); sign
  | |- 0 <= ?a ^ 2 => apply square_nonnegative
  | |- 0 <= ?a * ?a => apply Rle_0_sqr
  | |- 0 <= ?a * ?b => apply Rmult_le_pos; sign
  | |- 0 <= ?a / ?b => apply Rmult_le_pos; [| apply inverse_nonnegative]; sign
  | |- 0 <= / ?a => apply inverse_nonnegative; sign
  | |- 0 <= ?a ^ ?n => apply pow_le; sign
  | |- 0 <= sqrt ?a => apply sqrt_pos
  | |- 0 <= exp ?a => left; apply exp_pos
  | |- 0 <= Rabs ?a => apply Rabs_pos
  | |- 0 <= ?a + ?b => first [lra | apply plus_nonnegative; solve [sign]]
  | |- 0 <= Rmax ?a ?b => unfold Rmax; destruct (Rle_dec a b); sign
  | |- 0 <= Rmin ?a ?b => unfold Rmin; destruct (Rle_dec a b); sign
  | |- _ => lra
  end.

(* ------------------------------------------------------------------ the problem laid out *)
Ltac branches := repeat match goal with
  | |- context [Rmax ?a ?b] => unfold Rmax at 1; destruct (Rle_dec a b)
  | H : context [Rmax ?a ?b] |- _ => unfold Rmax in H at 1; destruct (Rle_dec a b)
  | |- context [Rmin ?a ?b] => unfold Rmin at 1; destruct (Rle_dec a b)
  | H : context [Rmin ?a ?b] |- _ => unfold Rmin in H at 1; destruct (Rle_dec a b)
  | |- context [Rabs ?a] => unfold Rabs at 1; destruct (Rcase_abs a)
  | H : context [Rabs ?a] |- _ => unfold Rabs in H at 1; destruct (Rcase_abs a)
  end.

(* A letter for each root and for each inverse, with what is known of it. *)
Ltac letter_for_inverse u :=
  let i := fresh "inverse" in let h := fresh "is_inverse" in
  first [assert (0 < u) as h by sign; pose proof (Rinv_0_lt_compat u h);
         pose proof (Rinv_r u (Rgt_not_eq _ _ h))
        | assert (u <> 0) as h by sign; pose proof (Rinv_r u h)];
  set (i := / u) in *; clearbody i.
Ltac letter_for_root u :=
  let s := fresh "root" in let h := fresh "is_root" in let e := fresh "is_square" in
  assert (0 <= u) as h by sign;
  try (assert (sqrt u <> 0) by (apply nonzero_of_positive, sqrt_lt_R0; sign); assert (0 < sqrt u) by (apply sqrt_lt_R0; sign));
  pose proof (sqrt_pos u); pose proof (sqrt_sqrt u h) as e;
  set (s := sqrt u) in *; clearbody s;
  try first [is_var u; subst u
       | lazymatch u with
         | ?a + ?b => first [is_var b; assert (b = s * s - a) by lra; subst b | is_var a; assert (a = s * s - b) by lra; subst a]
         | ?a - ?b => first [is_var b; assert (b = a - s * s) by lra; subst b | is_var a; assert (a = s * s + b) by lra; subst a]
         end].
Ltac no_letters u := match u with context [sqrt _] => fail 1 | context [/ _] => fail 1 | _ => idtac end.
Ltac no_roots u := match u with context [sqrt _] => fail 1 | _ => idtac end.
Ltac reals := repeat match goal with
  | |- context [IZR ?n] => is_var n; let x := fresh "x" in set (x := IZR n) in *; clearbody x; try clear n
  end.

Lemma root_of_product a b : 0 <= a -> 0 <= b -> sqrt (a * b) = sqrt a * sqrt b.
Proof. intros; now apply sqrt_mult. Qed.
Lemma root_of_quotient a b : 0 <= a -> 0 < b -> sqrt (a / b) = sqrt a / sqrt b.
Proof. intros; now apply sqrt_div. Qed.
Lemma root_of_inverse a : 0 < a -> sqrt (/ a) = / sqrt a.
Proof. intros. replace (/ a) with (1 / a) by (field; lra). rewrite sqrt_div, sqrt_1 by lra. unfold Rdiv; ring. Qed.
Lemma root_of_square a : 0 <= a -> sqrt (a ^ 2) = a.
Proof. intros; now apply sqrt_pow2. Qed.
Lemma log_of_root a : 0 < a -> ln (sqrt a) = / 2 * ln a.
Proof.
  intros. replace (ln a) with (ln (sqrt a * sqrt a)) by (f_equal; apply sqrt_sqrt; lra).
  rewrite ln_mult by now apply sqrt_lt_R0. lra.
Qed.
Ltac roots_apart := repeat match goal with
  | |- context [sqrt (?a ^ 2)] => rewrite (root_of_square a) by sign
  | |- context [sqrt (?a * ?b)] => rewrite (root_of_product a b) by sign
  | |- context [sqrt (?a / ?b)] => rewrite (root_of_quotient a b) by sign
  | |- context [sqrt (/ ?a)] => rewrite (root_of_inverse a) by sign
  | |- context [sqrt 1] => rewrite sqrt_1
  end.
Ltac root_letters := repeat match goal with
  | |- context [sqrt ?u] => no_roots u; letter_for_root u
  end.
Ltac lettered := unfold Rdiv in *; repeat match goal with
  | |- context [sqrt ?u] => no_letters u; letter_for_root u
  | H : context [sqrt ?u] |- _ => no_letters u; letter_for_root u
  | |- context [/ ?u] => no_letters u; letter_for_inverse u
  | H : context [/ ?u] |- _ => no_letters u; letter_for_inverse u
  end.

(* Both sides are the same, multiplied out: modulo what squares of letters for roots are, at most four, and what letters
   for inverses are inverses of. There is no search in this, so that it ends. *)
Ltac fields_with_roots := cbn [Rpow_def.pow] in *;
  repeat match goal with H : ?a = ?a |- _ => clear H end;
  match goal with
  | a : ?p * ?p = _, b : ?q * ?q = _, c : ?r * ?r = _, d : ?s * ?s = _ |- _ => field [a b c d]
  | a : ?p * ?p = _, b : ?q * ?q = _, c : ?r * ?r = _ |- _ => field [a b c]
  | a : ?p * ?p = _, b : ?q * ?q = _ |- _ => field [a b]
  | a : ?p * ?p = _ |- _ => field [a]
  end; repeat split; sign.
Ltac fields := first [ring | field; repeat split; sign].
(* Exponentials and logarithms of the same in two forms, such as 1 - v and 1 + - v, in one form. *)
Ltac one_form f := repeat match goal with
  | |- context [f ?a] => match goal with |- context [f ?b] => tryif constr_eq a b then fail else replace (f b) with (f a) by (f_equal; fields) end
  end.
Ltac one_form_each := one_form exp; one_form ln; one_form Phi.
Ltac identity := first
  [ fields
  | progress one_form_each; fields
  | reals; roots_apart; root_letters; first [fields | fields_with_roots] ].

(* Roots, logarithms and exponentials in another form. *)
Lemma root_by_square x y : 0 <= y -> y * y = x -> sqrt x = y.
Proof. intros Hy <-. now rewrite sqrt_square. Qed.
Ltac root_is := apply root_by_square; [sign | identity].
Ltac logs_apart := repeat match goal with
  | |- context [ln (?a * ?b)] => rewrite (ln_mult a b) by sign
  | |- context [ln (?a / ?b)] => rewrite (Rcomplements.ln_div a b) by sign
  | |- context [ln (/ ?a)] => rewrite (ln_Rinv a) by sign
  | |- context [ln (?a ^ ?n)] => rewrite (Rcomplements.ln_pow a n) by sign
  | |- context [ln (sqrt ?a)] => rewrite (log_of_root a) by sign
  | |- context [ln (exp ?a)] => rewrite (ln_exp a)
  | |- context [ln 1] => rewrite ln_1
  end.
Lemma exp_of_log u y : 0 < y -> u = ln y -> exp u = y.
Proof. intros H ->. now apply exp_ln. Qed.
Ltac exponentials_apart := repeat match goal with
  | |- context [exp (?a + ?b)] => rewrite (exp_plus a b)
  | |- context [exp (?a - ?b)] => change (a - b) with (a + - b)
  | |- context [exp (- ?a)] => rewrite (exp_Ropp a)
  | |- context [exp (ln ?a)] => rewrite (exp_ln a) by sign
  | |- context [exp 0] => rewrite exp_0
  | |- context [exp (1 * ?a)] => rewrite (Rmult_1_l a)
  | |- context [exp (IZR (Zneg ?p))] => change (exp (IZR (Zneg p))) with (exp (- IZR (Zpos p)))
  end.
Ltac log_of u := match goal with |- ln ?v = _ =>
  first [constr_eq u v | replace v with u by first [identity | exponentials_apart; identity]] end; logs_apart; simpl INR; identity.
Ltac exponential_is := first [apply exp_of_log; [sign | logs_apart; simpl INR; identity] | exponentials_apart; first [identity | f_equal; identity]].
Ltac function_is := f_equal; identity.
Lemma root_of_bound x e : x ^ 2 <= e -> x <= sqrt e.
Proof.
  intros H. destruct (Rle_or_lt x 0) as [Hx | Hx]; [apply Rle_trans with 0; [exact Hx | apply sqrt_pos] |].
  rewrite <- (sqrt_pow2 x) by lra. now apply sqrt_le_1_alt.
Qed.
Lemma bound_of_root x e : 0 <= x -> e <= x ^ 2 -> sqrt e <= x.
Proof. intros Hx H. rewrite <- (sqrt_pow2 x) by lra. now apply sqrt_le_1_alt. Qed.
Lemma by_squares l r : 0 <= r -> l ^ 2 <= r ^ 2 -> l <= r.
Proof. intros Hr H. rewrite <- (sqrt_pow2 r) by exact Hr. now apply root_of_bound. Qed.
Ltac root_above := apply root_of_bound; lra.
Ltac root_below := apply bound_of_root; [sign | lra].

(* ------------------------------------------------------------------ sums of products *)
Lemma at_most s l r : r - l = s -> 0 <= s -> l <= r.
Proof. lra. Qed.
Lemma below s l r : r - l = s -> 0 < s -> l < r.
Proof. lra. Qed.
Lemma equal_by_both (l r : R) : l <= r -> r <= l -> l = r.
Proof. lra. Qed.
Lemma times_given m l r : 0 <= m -> l <= r -> 0 <= m * (r - l).
Proof. intros; apply Rmult_le_pos; lra. Qed.
Lemma times_strict m l r : 0 < m -> l < r -> 0 < m * (r - l).
Proof. intros; apply Rmult_lt_0_compat; lra. Qed.
Lemma times_equal m l r : l = r -> 0 <= m * (r - l).
Proof. intros ->; lra. Qed.
Lemma times_two m a b c d : 0 <= m -> a <= b -> c <= d -> 0 <= m * ((b - a) * (d - c)).
Proof. intros; apply Rmult_le_pos; [assumption | apply Rmult_le_pos; lra]. Qed.
Ltac parts := repeat first [assumption | lra | apply plus_nonnegative | apply Rlt_le; assumption].
Ltac parts_positive :=
  first [assumption | apply plus_positive_right; [solve [parts] | assumption] | apply plus_positive_left; [parts_positive | solve [parts]]].

(* ------------------------------------------------------------------ cases *)
Lemma larger_of a b : (a <= b /\ Rmax a b = b) \/ (b < a /\ Rmax a b = a).
Proof. unfold Rmax; destruct (Rle_dec a b); [left | right]; lra. Qed.
Lemma smaller_of a b : (a <= b /\ Rmin a b = a) \/ (b < a /\ Rmin a b = b).
Proof. unfold Rmin; destruct (Rle_dec a b); [left | right]; lra. Qed.
Lemma size_of a : (0 <= a /\ Rabs a = a) \/ (a < 0 /\ Rabs a = - 1 * a).
Proof. unfold Rabs; destruct (Rcase_abs a); [right | left]; lra. Qed.

(* ------------------------------------------------------------------ facts about functions *)
Lemma log_below u : 0 < u -> ln u <= u - 1.
Proof. intros H. pose proof (exp_ineq1_le (ln u)). rewrite exp_ln in H0 by exact H. lra. Qed.
Lemma log_above u : 0 < u -> 1 - 1 / u <= ln u.
Proof.
  intros H. pose proof (log_below (/ u) (Rinv_0_lt_compat u H)) as L. rewrite ln_Rinv in L by exact H.
  unfold Rdiv; lra.
Qed.
Lemma exp_order u v : u <= v -> exp u <= exp v.
Proof. intros [H | ->]; [left; now apply exp_increasing | lra]. Qed.
Lemma log_order u v : 0 < u -> u <= v -> ln u <= ln v.
Proof. intros H [L | ->]; [left; now apply ln_increasing | lra]. Qed.
Lemma log_positive u : 1 < u -> 0 < ln u.
Proof. intros H. rewrite <- ln_1. apply ln_increasing; lra. Qed.
Lemma log_nonnegative u : 1 <= u -> 0 <= ln u.
Proof. intros H. rewrite <- ln_1. apply log_order; lra. Qed.
Lemma log_negative u : u < 1 -> 0 < u -> ln u < 0.
Proof. intros H P. rewrite <- ln_1. now apply ln_increasing. Qed.
Lemma atan_order u v : u <= v -> atan u <= atan v.
Proof. intros [H | ->]; [left; now apply atan_increasing | lra]. Qed.

Ltac clear_parts := repeat match goal with H : 0 <= _ * (_ - _) |- _ => clear H | H : _ * (_ - _) = 0 |- _ => clear H end.

(* ------------------------------------------------------------------ sums in closed form *)
Lemma from_first (P : Z -> Prop) first : P first -> (forall n, (first <= n)%Z -> P n -> P (n + 1)%Z) ->
  forall n, (first <= n)%Z -> P n.
Proof.
  intros B N n H. replace n with (first + (n - first))%Z by lia.
  apply (natlike_ind (fun k => P (first + k)%Z)); [now rewrite Z.add_0_r | | lia].
  intros k K I. replace (first + Z.succ k)%Z with (first + k + 1)%Z by lia. apply N; [lia | exact I].
Qed.
Lemma folded_next (op : R -> R -> R) (f : Z -> R) (of : nat -> Z -> R) :
  (forall a b c, op a (op b c) = op (op a b) c) -> (forall k, of O k = f k) ->
  (forall less k, of (S less) k = op (f k) (of less (k + 1)%Z)) ->
  forall count first, of (S count) first = op (of count first) (f (first + Z.of_nat count + 1)%Z).
Proof.
  intros A Z N. induction count as [| less IH]; intros first.
  - rewrite N, !Z. do 2 f_equal. simpl. lia.
  - rewrite N, IH, A, <- N. do 2 f_equal. lia.
Qed.
Lemma sum_next f first last m : m = (last + 1)%Z -> (first <= last)%Z -> sum f first m = sum f first last + f m.
Proof.
  intros -> L. unfold sum. replace (Z.to_nat (last + 1 - first)) with (S (Z.to_nat (last - first))) by lia.
  rewrite (folded_next Rplus f (fun count => sum_of count f)) by (intros; simpl; ring).
  do 2 f_equal. rewrite Z2Nat.id; lia.
Qed.
Lemma product_next f first last m :
  m = (last + 1)%Z -> (first <= last)%Z -> product f first m = product f first last * f m.
Proof.
  intros -> L. unfold product. replace (Z.to_nat (last + 1 - first)) with (S (Z.to_nat (last - first))) by lia.
  rewrite (folded_next Rmult f (fun count => product_of count f)) by (intros; simpl; ring).
  do 2 f_equal. rewrite Z2Nat.id; lia.
Qed.
Lemma one_term f first : sum f first first = f first.
Proof. unfold sum. now rewrite Z.sub_diag. Qed.
Lemma sum_closed f F first last : (first <= last)%Z -> F first = f first ->
  (forall k, (first < k <= last)%Z -> F k - F (k - 1)%Z = f k) -> sum f first last = F last.
Proof.
  intros L E H. cut (forall n, (first <= n)%Z -> (n <= last)%Z -> sum f first n = F n); [intros G; apply G; lia |].
  apply (from_first (fun n => (n <= last)%Z -> sum f first n = F n)).
  - intros _. now rewrite one_term.
  - intros n K I U. rewrite (sum_next f first n), I by lia. rewrite <- H by lia.
    replace (n + 1 - 1)%Z with n by lia. lra.
Qed.
Lemma power_next b n m : m = (n + 1)%Z -> b <> 0 \/ (0 <= n)%Z -> powerRZ b m = powerRZ b n * b.
Proof.
  intros -> [B | N]; [rewrite powerRZ_add by exact B; simpl; ring |].
  rewrite <- (Z2Nat.id n N). replace (Z.of_nat (Z.to_nat n) + 1)%Z with (Z.of_nat (S (Z.to_nat n))) by lia.
  rewrite <- !pow_powerRZ. simpl. ring.
Qed.
Lemma power_before b n m : m = (n - 1)%Z -> b <> 0 -> powerRZ b m = powerRZ b n * / b.
Proof. intros -> B. change (n - 1)%Z with (n + -1)%Z. rewrite powerRZ_add by exact B. simpl. field. exact B. Qed.
Lemma power_most b n : 0 <= b -> b <= 1 -> (0 <= n)%Z -> powerRZ b n <= 1.
Proof.
  intros L U N. rewrite <- (Z2Nat.id n N), <- pow_powerRZ, <- (pow1 (Z.to_nat n)). apply pow_incr. lra.
Qed.
Lemma power_least b n : 1 <= b -> (0 <= n)%Z -> 1 <= powerRZ b n.
Proof. intros L N. rewrite <- (Z2Nat.id n N), <- pow_powerRZ. now apply pow_R1_Rle. Qed.
Lemma power_nonnegative b n : 0 <= b -> (0 <= n)%Z -> 0 <= powerRZ b n.
Proof. intros L N. rewrite <- (Z2Nat.id n N), <- pow_powerRZ. now apply pow_le. Qed.
Lemma factorial_next n m : m = (n + 1)%Z -> (0 <= n)%Z -> factorial m = factorial n * (IZR n + 1).
Proof.
  intros -> N. unfold factorial. replace (Z.to_nat (n + 1)) with (S (Z.to_nat n)) by lia.
  change (factorial_of (S (Z.to_nat n))) with (Z.of_nat (S (Z.to_nat n)) * factorial_of (Z.to_nat n))%Z.
  rewrite mult_IZR. replace (Z.of_nat (S (Z.to_nat n))) with (n + 1)%Z by lia. rewrite plus_IZR. ring.
Qed.
Lemma factorial_least n : 1 <= factorial n.
Proof.
  destruct (Z_le_gt_dec 0 n) as [N | N]; [| unfold factorial; replace (Z.to_nat n) with O by lia; simpl; lra].
  revert n N. apply from_first; [unfold factorial; simpl; lra |].
  intros n N I. rewrite (factorial_next n) by lia. apply IZR_le in N. nra.
Qed.
Lemma factorial_positive n : 0 < factorial n.
Proof. pose proof (factorial_least n). lra. Qed.
Lemma factorial_is_fact n : factorial (Z.of_nat n) = INR (fact n).
Proof.
  induction n as [| n IH]; [reflexivity |]. rewrite (factorial_next (Z.of_nat n)) by lia.
  rewrite IH, <- INR_IZR_INZ, fact_simpl, mult_INR, S_INR. ring.
Qed.
Lemma binomial_positive n k : (k <= n)%Z -> 0 < binomial n k.
Proof.
  intros K. unfold binomial. rewrite (proj2 (Z.leb_le k n) K). apply Rdiv_lt_0_compat; [| apply Rmult_lt_0_compat];
    apply factorial_positive.
Qed.
Ltac factorials := repeat match goal with
  | |- context [factorial ?n] => let g := fresh "factorial" in
    pose proof (factorial_positive n); set (g := factorial n) in *; clearbody g
  end.
Lemma binomial_up n k m : m = (n + 1)%Z -> (0 <= k <= n)%Z ->
  binomial m k = binomial n k * ((IZR n + 1) / (IZR n + 1 - IZR k)).
Proof.
  intros -> [L U]. unfold binomial. rewrite (proj2 (Z.leb_le k n) U), (proj2 (Z.leb_le k (n + 1))) by lia.
  rewrite (factorial_next n), (factorial_next (n - k) (n + 1 - k)) by lia. rewrite minus_IZR.
  apply IZR_le in L, U. factorials. field. repeat split; lra.
Qed.
Lemma binomial_over n k j : j = (k + 1)%Z -> (0 <= k <= n)%Z ->
  binomial n j = binomial n k * ((IZR n - IZR k) / (IZR k + 1)).
Proof.
  intros -> [L U]. unfold binomial. rewrite (proj2 (Z.leb_le k n) U).
  destruct (Z.leb_spec (k + 1) n) as [V | V].
  - rewrite (factorial_next k (k + 1)), (factorial_next (n - (k + 1)) (n - k)) by lia. rewrite minus_IZR, plus_IZR.
    apply IZR_le in L, V. rewrite plus_IZR in V. factorials. field. repeat split; lra.
  - replace n with k by lia. unfold Rminus. rewrite Rplus_opp_r. unfold Rdiv. ring.
Qed.
Lemma binomial_sum f c a b n : (0 <= n)%Z ->
  (forall i, (0 <= i <= n)%Z -> f i = c * (binomial n i * (powerRZ a i * powerRZ b (n - i)))) ->
  sum f 0 n = c * powerRZ (a + b) n.
Proof.
  intros N H. set (term := fun i => Binomial.C (Z.to_nat n) i * a ^ i * b ^ (Z.to_nat n - i)).
  assert (T : forall i, (i <= Z.to_nat n)%nat -> f (Z.of_nat i) = c * term i).
  { intros i I. rewrite H by lia. unfold term, binomial, Binomial.C. rewrite (proj2 (Z.leb_le (Z.of_nat i) n)) by lia.
    replace (n - Z.of_nat i)%Z with (Z.of_nat (Z.to_nat n - i)) by lia. rewrite <- (Z2Nat.id n N) at 1.
    rewrite !factorial_is_fact, <- !pow_powerRZ. unfold Rdiv. ring. }
  assert (S : forall m, (0 <= m)%Z -> (m <= n)%Z -> sum f 0 m = c * sum_f_R0 term (Z.to_nat m)).
  { apply (from_first (fun m => (m <= n)%Z -> sum f 0 m = c * sum_f_R0 term (Z.to_nat m))).
    - intros _. rewrite one_term. exact (T O ltac:(lia)).
    - intros m M I U. rewrite (sum_next f 0 m), I by lia. replace (Z.to_nat (m + 1)) with (S (Z.to_nat m)) by lia.
      simpl sum_f_R0. replace (m + 1)%Z with (Z.of_nat (S (Z.to_nat m))) by lia. rewrite T by lia. ring. }
  rewrite S by lia. unfold term. rewrite <- Binomial.binomial, pow_powerRZ, Z2Nat.id by exact N. reflexivity.
Qed.
Lemma same_sides (relation : R -> R -> Prop) a b c d : c = a -> d = b -> relation a b -> relation c d.
Proof. now intros -> ->. Qed.
Lemma exp_of_sum a b c : exp ((a + b) * c) = exp (a * c) * exp (b * c).
Proof. rewrite <- exp_plus. f_equal. ring. Qed.
Lemma exp_of_difference a b c : exp ((a - b) * c) = exp (a * c) / exp (b * c).
Proof. unfold Rdiv. rewrite <- exp_Ropp, <- exp_plus. f_equal. ring. Qed.
Ltac powers_apart := repeat match goal with
  | |- context [exp ((?a + ?b) * ?c)] => rewrite (exp_of_sum a b c)
  | |- context [exp ((?a - ?b) * ?c)] => rewrite (exp_of_difference a b c)
  | |- context [exp (1 * ?c)] => rewrite (Rmult_1_l c)
  | |- context [exp (0 * ?c)] => rewrite (Rmult_0_l c), exp_0
  | |- context [powerRZ ?b (?m - ?n)] => change (m - n)%Z with (m + - n)%Z
  | |- context [powerRZ ?b (-1 * ?n)] => replace (-1 * n)%Z with (- n)%Z by lia
  | |- context [powerRZ ?b (- ?n)] => rewrite (powerRZ_neg' b n)
  | |- context [powerRZ ?b (?m + ?n)] => rewrite (powerRZ_add b m n) by lra
  | |- context [powerRZ (1 / ?b) ?n] => replace (powerRZ (1 / b) n) with (/ powerRZ b n) by (rewrite <- powerRZ_inv'; f_equal; lra)
  | |- context [powerRZ ?b 0] => change (powerRZ b 0) with 1
  | |- context [powerRZ ?b 1] => change (powerRZ b 1) with (b * 1)
  end.
Ltac of_integers := repeat rewrite ?plus_IZR, ?minus_IZR, ?mult_IZR, ?opp_IZR.
Ltac ordered := first [lia | apply le_IZR; of_integers; lra].
Ltac summed form := match goal with |- sum ?f ?first ?last = _ => transitivity (form last) end;
  [ apply (sum_closed _ form); cbv beta;
    [ ordered | powers_apart; identity
    | let k := fresh "k" in let low := fresh in let high := fresh in
      intros k [low high]; apply IZR_lt in low; apply IZR_le in high; rewrite ?minus_IZR; powers_apart; identity ]
  | cbv beta; of_integers; first [reflexivity | identity] ].

(* ------------------------------------------------------------------ along a letter, from an end *)
Lemma rising f g low high x : (forall t, low <= t <= high -> is_derive f t (g t)) ->
  (forall t, low <= t <= high -> 0 <= g t) -> low <= x <= high -> 0 <= f low -> 0 <= f x.
Proof.
  intros D G [L U] E. destruct (MVT_gen f low x g) as [c [C V]].
  - intros t [A B]. rewrite Rmin_left in A by exact L. rewrite Rmax_right in B by exact L. apply D. lra.
  - intros t [A B]. rewrite Rmin_left in A by exact L. rewrite Rmax_right in B by exact L.
    apply derivable_continuous_pt. exists (g t). apply is_derive_Reals. apply D. lra.
  - rewrite Rmin_left, Rmax_right in C by exact L.
    pose proof (Rmult_le_pos (g c) (x - low) ltac:(apply G; lra) ltac:(lra)). lra.
Qed.
Lemma falling f g low high x : (forall t, low <= t <= high -> is_derive f t (g t)) ->
  (forall t, low <= t <= high -> 0 <= - g t) -> low <= x <= high -> 0 <= f high -> 0 <= f x.
Proof.
  intros D G B E. replace x with (- (- x)) by ring.
  apply (rising (fun t => f (- t)) (fun t => - g (- t)) (- high) (- low)); [| | lra | now rewrite Ropp_involutive].
  - intros t T. evar_last. { apply (is_derive_comp f); [apply D; lra | auto_derive; [exact I | reflexivity]]. } unfold scal; simpl; unfold mult; simpl. ring.
  - intros t T. apply G. lra.
Qed.
Lemma at_most_by_difference l r : 0 <= r - l -> l <= r.
Proof. lra. Qed.
Ltac along rule x low high :=
  match goal with |- 0 <= ?e => match eval pattern x in e with ?h _ => change (0 <= h x);
    eapply (rule h _ low high); [intros; auto_derive; [repeat split; try exact I; first [sign | enclosed] | reflexivity] | | lra |] end end;
  clear dependent x; [intros x [? ?] |]; cbv beta.

(* ------------------------------------------------------------------ inner products *)
Lemma inner_plus_left d u v w : inner d (vadd u v) w = inner d u w + inner d v w.
Proof. induction d as [| d IH]; simpl; [ring | rewrite IH; unfold vadd; ring]. Qed.
Lemma inner_symmetric d u v : inner d u v = inner d v u.
Proof. induction d as [| d IH]; simpl; [reflexivity | rewrite IH; ring]. Qed.
Lemma inner_scale_left d c u v : inner d (vscale c u) v = c * inner d u v.
Proof. induction d as [| d IH]; simpl; [ring | rewrite IH; unfold vscale; ring]. Qed.
Lemma inner_plus_right d u v w : inner d w (vadd u v) = inner d w u + inner d w v.
Proof. now rewrite inner_symmetric, inner_plus_left, 2 (inner_symmetric d w). Qed.
Lemma inner_scale_right d c u v : inner d v (vscale c u) = c * inner d v u.
Proof. now rewrite inner_symmetric, inner_scale_left, (inner_symmetric d v). Qed.
Lemma inner_nonnegative d u : 0 <= inner d u u.
Proof. induction d as [| d IH]; simpl; [lra | pose proof (Rle_0_sqr (u d)); unfold Rsqr in *; lra]. Qed.
Lemma norm_nonnegative d u : 0 <= norm d u.
Proof. apply sqrt_pos. Qed.
Lemma norm_squared d u : norm d u * norm d u = inner d u u.
Proof. apply sqrt_sqrt, inner_nonnegative. Qed.
Lemma cauchy_schwarz d u v : 0 <= norm d u * norm d v - inner d u v.
Proof.
  pose proof (norm_nonnegative d u) as Nu; pose proof (norm_nonnegative d v) as Nv.
  pose proof (norm_squared d u) as Su; pose proof (norm_squared d v) as Sv.
  pose proof (inner_nonnegative d (vadd (vscale (norm d v) u) (vscale (- norm d u) v))) as P.
  rewrite !inner_plus_left, !inner_plus_right, !inner_scale_left, !inner_scale_right in P.
  rewrite (inner_symmetric d v u) in P. rewrite <- Su, <- Sv in P.
  destruct Nu as [Nu | Zu]; [destruct Nv as [Nv | Zv] |].
  - assert (0 < norm d u * norm d v) by now apply Rmult_lt_0_compat. nra.
  - assert (Z : inner d u v = 0).
    { clear P Su Nu. rewrite <- Zv in Sv. clear Zv. revert Sv. induction d as [| d IH]; simpl; intros; [reflexivity |].
      pose proof (inner_nonnegative d v). assert (inner d v v = 0) by nra. assert (v d = 0) by nra. rewrite IH by lra. rewrite H1. ring. }
    rewrite Z, <- Zv. lra.
  - assert (Z : inner d u v = 0).
    { clear P Sv Nv. rewrite <- Zu in Su. clear Zu. revert Su. induction d as [| d IH]; simpl; intros; [reflexivity |].
      pose proof (inner_nonnegative d u). assert (inner d u u = 0) by nra. assert (u d = 0) by nra. rewrite IH by lra. rewrite H1. ring. }
    rewrite Z, <- Zu. lra.
Qed.
Ltac one_order := repeat match goal with
  | |- context [inner ?d ?v ?u] => is_var u; is_var v;
    match goal with |- context [inner d u v] => tryif constr_eq u v then fail else rewrite (inner_symmetric d v u) end
  end.
Ltac bilinear := repeat rewrite ?inner_plus_left, ?inner_plus_right, ?inner_scale_left, ?inner_scale_right.
Ltac norms := repeat match goal with
  | |- context [norm ?d ?u] =>
    let n := fresh "norm" in let e := fresh "is_norm" in
    pose proof (norm_squared d u) as e; revert e; set (n := norm d u) in *; clearbody n
  end.
Lemma norm_square d u : norm d u ^ 2 = inner d u u.
Proof. rewrite <- norm_squared. ring. Qed.
Ltac products := rewrite ?norm_square in *; norms; bilinear; one_order; intros; repeat match goal with
  | |- context [inner ?d ?u ?v] => let p := fresh "product" in set (p := inner d u v) in *; clearbody p
  | H : context [inner ?d ?u ?v] |- _ => let p := fresh "product" in set (p := inner d u v) in *; clearbody p
  end.
Ltac gram := clear_parts; products;
  repeat match goal with H : ?n * ?n = ?p |- _ => is_var p; subst p end; first [lra | fields | fields_with_roots].

(* ------------------------------------------------------------------ values at a point *)
Lemma Phi_order x y : x <= y -> Phi x <= Phi y.
Proof.
  intros H. unfold Phi. apply Rplus_le_compat_l. apply Rmult_le_compat_r.
  { apply Rlt_le, Rinv_0_lt_compat, sqrt_lt_R0. pose proof PI_RGT_0. lra. }
  rewrite <- (RInt_Chasles (fun t => exp (- (t * t) / 2)) 0 x y) by apply bell_integrable.
  assert (0 <= RInt (fun t => exp (- (t * t) / 2)) x y).
  { apply RInt_ge_0; [exact H | apply bell_integrable | intros; apply Rlt_le, exp_pos]. }
  unfold plus; simpl. lra.
Qed.
Lemma Phi_reflected x : Phi (- x) = 1 - Phi x.
Proof.
  unfold Phi. set (f := fun t => exp (- (t * t) / 2)).
  assert (E : RInt f 0 (- x) = opp (RInt f 0 x)).
  { pose proof (is_RInt_comp_opp f 0 x (RInt f 0 (- x))) as C. rewrite Ropp_0 in C.
    pose proof (is_RInt_unique _ _ _ _ (C (RInt_correct _ _ _ (bell_integrable 0 (- x))))) as U. rewrite <- U.
    rewrite <- RInt_opp by apply bell_integrable. apply RInt_ext. intros t _. unfold f. do 3 f_equal. ring. }
  rewrite E. unfold opp; simpl. field. apply Rgt_not_eq, sqrt_lt_R0. pose proof PI_RGT_0. lra.
Qed.
Ltac reflected := match goal with |- Phi ?x = 1 - Phi ?y => replace x with (- y) by identity; apply Phi_reflected end.
Lemma Phi_between l x h a b : l <= x <= h -> a <= Phi l -> Phi h <= b -> a <= Phi x <= b.
Proof. intros [L H] A B. pose proof (Phi_order l x L). pose proof (Phi_order x h H). lra. Qed.
Lemma power_is_exp b e : 0 < b -> power b e = exp (e * ln b).
Proof.
  intros H. unfold power. destruct (Req_EM_T (IZR (Int_part e)) e) as [W | W].
  - rewrite powerRZ_Rpower by exact H. unfold Rpower. now rewrite W.
  - destruct (Rlt_dec 0 b); [reflexivity | contradiction].
Qed.
Lemma power_defined_positive b e : 0 < b -> power_defined b e.
Proof.
  intros H. unfold power_defined. destruct (Req_EM_T (IZR (Int_part e)) e) as [W | W]; [left | right];
    split; try exact W; left; lra.
Qed.
Lemma floor_is x n : IZR n <= x < IZR n + 1 -> floor x = IZR n.
Proof.
  intros [L H]. unfold floor, Int_part. f_equal. rewrite <- (tech_up x (n + 1)) by (rewrite plus_IZR; lra). lia.
Qed.
Ltac reals_equal := first [apply root_by_square; lra | apply bound_of_root; lra | identity | branches; lra | nra | simpl; lra].
Ltac integers := unfold binomial, factorial; repeat match goal with
  | |- context [Z.leb ?a ?b] => let v := eval vm_compute in (Z.leb a b) in change (Z.leb a b) with v; cbv iota
  | |- context [IZR (factorial_of (Z.to_nat ?n))] => let v := eval vm_compute in (factorial_of (Z.to_nat n)) in
    match v with Zpos _ => change (factorial_of (Z.to_nat n)) with v end
  | |- context [Z.to_nat ?n] => let v := eval vm_compute in (Z.to_nat n) in change (Z.to_nat n) with v
  | |- context [Z.add ?a ?b] => let v := eval vm_compute in (Z.add a b) in progress change (Z.add a b) with v
  | |- context [Z.mul ?a ?b] => let v := eval vm_compute in (Z.mul a b) in
    match v with Z0 => idtac | Zpos _ => idtac | Zneg _ => idtac end; change (Z.mul a b) with v
  | |- context [powerRZ ?b (Zpos ?n)] => let v := eval vm_compute in (Pos.to_nat n) in change (powerRZ b (Zpos n)) with (b ^ v)
  | |- context [powerRZ ?b (Zneg ?n)] => let v := eval vm_compute in (Pos.to_nat n) in change (powerRZ b (Zneg n)) with (/ b ^ v)
  | |- context [powerRZ ?b Z0] => change (powerRZ b Z0) with 1
  end.
Ltac worked_out := unfold sum, product; integers; cbn [sum_of product_of]; integers;
  rewrite ?norm_square; unfold norm, vadd, vscale; cbn [inner]; rewrite ?Rmult_0_l, ?Rmult_0_r;
  repeat match goal with
  | |- context [power ?b ?e] => rewrite (power_is_exp b e) by first [sign | enclosed]
  | |- context [Rmin ?a ?b] => first [rewrite (Rmin_left a b) by first [lra | enclosed] | rewrite (Rmin_right a b) by first [lra | enclosed]]
  | |- context [Rmax ?a ?b] => first [rewrite (Rmax_left a b) by first [lra | enclosed] | rewrite (Rmax_right a b) by first [lra | enclosed]]
  | |- context [ln ?u] => progress (replace u with 1 by lra); rewrite ln_1
  end.
Ltac value := worked_out; first
  [ lra | enclosed | apply Rlt_not_eq; lra | apply Rgt_not_eq; lra
  | apply Rminus_not_eq; first [apply Rlt_not_eq; enclosed | apply Rgt_not_eq; enclosed] | sign | reals_equal ].
Ltac evaluated := lazymatch goal with
  | |- _ /\ _ => split; evaluated
  | |- _ \/ _ => first [left; solve [evaluated] | right; solve [evaluated]]
  | |- forall _ : Z, (_ <= _ <= _)%Z -> _ => let low := fresh in let high := fresh in
    intros ? [low high]; apply IZR_le in low, high; evaluated
  | |- (_ <= _)%Z => lia
  | |- power_defined _ _ => apply power_defined_positive; first [sign | value]
  | |- integrable _ _ _ => assumption
  | |- ?x = ?x => reflexivity
  | |- _ <> _ => value
  | |- forall _, _ => intros; evaluated
  | _ => first [solve [value] | exfalso; lra]
  end.
(* A number between two others, of which the integrals are bounded. *)
Ltac bounded := integers; split; first [lra | enclosed].
Ltac normal := unfold Phi; integral with (i_prec 80, i_degree 14).

(* ------------------------------------------------------------------ the normal law far out, and its quantiles *)
Lemma Phi_slope x : is_derive Phi x (exp (- (x * x) / 2) / sqrt (2 * PI)).
Proof.
  unfold Phi. auto_derive; [| unfold Rdiv; ring].
  repeat split; [apply bell_integrable | apply filter_forall; intros; apply continuity_pt_filterlim, bell_continuous].
Qed.
Lemma Phi_derivable x : ex_derive Phi x.
Proof. exists (exp (- (x * x) / 2) / sqrt (2 * PI)). apply Phi_slope. Qed.
Lemma Phi_derivative x : Derive Phi x = exp (- (x * x) / 2) / sqrt (2 * PI).
Proof. apply is_derive_unique, Phi_slope. Qed.
Lemma bell_rest_most x : bell_rest x <= exp (- (x * x) / 2) * (PI / 4).
Proof.
  replace (exp (- (x * x) / 2) * (PI / 4)) with (RInt (fun t => exp (- (x * x) / 2) * / (1 + t ^ 2)) 0 1).
  - unfold bell_rest. apply RInt_le; [lra | apply bell_rest_integrable | |].
    + apply (ex_RInt_continuous (V := R_CompleteNormedModule)). intros t _.
      apply (ex_derive_continuous (fun t : R => exp (- (x * x) / 2) * / (1 + t ^ 2))). auto_derive. pose proof (square_plus t). lra.
    + intros t _. pose proof (square_plus t). unfold Rdiv at 1. replace (1 + t ^ 2) with (1 + t * t) by ring.
      apply Rmult_le_compat_r; [apply inverse_nonnegative; lra |]. apply exp_order. pose proof (Rle_0_sqr (x * t)). unfold Rsqr in *. lra.
  - apply is_RInt_unique. replace (PI / 4) with (atan 1 - atan 0) by (rewrite atan_1, atan_0; ring).
    apply (is_RInt_scal (fun t => / (1 + t ^ 2)) 0 1 (exp (- (x * x) / 2)) (atan 1 - atan 0)). apply (is_RInt_derive atan).
    + intros t _. apply is_derive_Reals, derivable_pt_lim_atan.
    + intros t _. apply (ex_derive_continuous (fun t => / (1 + t ^ 2))). auto_derive. pose proof (square_plus t). lra.
Qed.
Lemma Phi_tail x : 0 <= x -> Phi (- x) <= exp (- (x * x) / 2) / 2.
Proof.
  intros X. pose proof (bell_total x). pose proof (bell_rest_most x) as M. pose proof PI_RGT_0. rewrite Phi_reflected. unfold Phi. fold (bell_area x).
  assert (A : 0 <= bell_area x) by (apply RInt_ge_0; [exact X | apply bell_integrable | intros; apply Rlt_le, exp_pos]).
  assert (P : 0 < sqrt (2 * PI)) by (apply sqrt_lt_R0; lra). pose proof (sqrt_sqrt (2 * PI) ltac:(lra)) as Q.
  assert (E : 0 < exp (- (x * x) / 2) <= 1) by (split; [apply exp_pos | rewrite <- exp_0; apply exp_order; nra]).
  revert A H M E. generalize (bell_area x : R) (exp (- (x * x) / 2)). intros a e A H M E. set (s := sqrt (2 * PI)) in *. clearbody s.
  replace a with (a / s * s) in * by (field; lra). set (b := a / s) in *. clearbody b. replace (b * s / s) with b by (field; lra).
  assert (0 <= b) by nra. assert ((1 - e) / 4 <= b * b) by (apply Rmult_le_reg_r with (2 * PI); nra). nra.
Qed.
Lemma Phi_far x : 0 < x -> Phi (- x) * x <= 1.
Proof.
  intros X. pose proof (Phi_tail x ltac:(lra)) as T. pose proof (exp_ineq1_le (x * x / 2)) as E.
  replace (- (x * x) / 2) with (- (x * x / 2)) in T by field. rewrite exp_Ropp in T. set (e := exp (x * x / 2)) in *. clearbody e.
  assert (0 < e) by nra. assert (e * / e = 1) by (field; lra). pose proof (Rinv_0_lt_compat e H). set (i := / e) in *. clearbody i.
  assert (i * x <= 1) by (apply Rle_trans with (e * i); nra). nra.
Qed.
Lemma Phi_below s x : 0 < s -> x <= - / s -> Phi x <= s.
Proof.
  intros S X. assert (0 < / s) by now apply Rinv_0_lt_compat. pose proof (Phi_far (- x) ltac:(lra)) as F. rewrite Ropp_involutive in F.
  assert (s * / s = 1) by (field; lra). pose proof (Phi_positive x). nra.
Qed.
Lemma Phi_zero : Phi 0 = 1 / 2.
Proof. pose proof (Phi_reflected 0) as E. rewrite Ropp_0 in E. lra. Qed.
Lemma Phi_below_one x : Phi x < 1.
Proof. pose proof (Phi_positive (- x)) as P. rewrite Phi_reflected in P. lra. Qed.
Lemma Phi_rises x y : x < y -> Phi x < Phi y.
Proof.
  intros L. destruct (MVT_gen Phi x y (fun t => exp (- (t * t) / 2) / sqrt (2 * PI))) as [c [_ V]].
  - intros; apply Phi_slope.
  - intros; apply derivable_continuous_pt. eexists. apply is_derive_Reals, Phi_slope.
  - assert (0 < exp (- (c * c) / 2) / sqrt (2 * PI)) by (pose proof PI_RGT_0; sign). nra.
Qed.
Lemma quantile_exists p : 0 < p -> p < 1 -> exists q, Phi q = p.
Proof.
  intros L U. destruct (IVT_gen Phi (- / p) (/ (1 - p)) p) as [q [_ E]]; [| | now exists q].
  - intros x. apply derivable_continuous_pt. eexists. apply is_derive_Reals, Phi_slope.
  - pose proof (Rinv_0_lt_compat p L) as P. pose proof (Rinv_0_lt_compat (1 - p) ltac:(lra)) as S.
    pose proof (Phi_order (- / p) (/ (1 - p)) ltac:(lra)). rewrite Rmin_left, Rmax_right by lra.
    pose proof (Phi_far _ P) as A. pose proof (Phi_far _ S) as B. rewrite Phi_reflected in B. split.
    + apply Rmult_le_reg_r with (/ p); [exact P |]. rewrite Rinv_r by lra. exact A.
    + apply (Rmult_le_compat_r (1 - p)) in B; [| lra]. rewrite Rmult_assoc, Rinv_l in B by lra. lra.
Qed.
Lemma quantile_is q : Phi_inverse (Phi q) = q.
Proof.
  unfold Phi_inverse. rewrite (is_lub_Rbar_unique _ q); [reflexivity |]. split.
  - intros x L. destruct (Rle_lt_dec x q) as [? | G]; [assumption | apply Phi_rises in G; lra].
  - intros b B. apply B. lra.
Qed.
Lemma quantile_reflected q : Phi_inverse (1 - Phi q) = - q.
Proof. rewrite <- Phi_reflected. apply quantile_is. Qed.

(* ------------------------------------------------------------------ integrals to infinite ends *)
(* What grows far out no faster than a power. *)
Definition slow (f : R -> R) := exists c n, 0 <= c /\ forall x, 1 <= Rabs x -> Rabs (f x) <= c * Rabs x ^ n.
Lemma slow_constant c : slow (fun _ => c).
Proof. exists (Rabs c), O. split; [apply Rabs_pos |]. intros. simpl. lra. Qed.
Lemma slow_letter : slow (fun x => x).
Proof. exists 1, 1%nat. split; [lra |]. intros. simpl. lra. Qed.
Lemma slow_plus f g : slow f -> slow g -> slow (fun x => f x + g x).
Proof.
  intros (c & n & C & F) (d & m & D & G). exists (c + d), (Nat.max n m). split; [lra |]. intros x X.
  pose proof (F x X). pose proof (G x X). pose proof (Rabs_triang (f x) (g x)).
  pose proof (Rle_pow (Rabs x) n (Nat.max n m) X ltac:(lia)). pose proof (Rle_pow (Rabs x) m (Nat.max n m) X ltac:(lia)). nra.
Qed.
Lemma slow_times f g : slow f -> slow g -> slow (fun x => f x * g x).
Proof.
  intros (c & n & C & F) (d & m & D & G). exists (c * d), (n + m)%nat. split; [now apply Rmult_le_pos |]. intros x X.
  rewrite Rabs_mult, pow_add. replace (c * d * (Rabs x ^ n * Rabs x ^ m)) with (c * Rabs x ^ n * (d * Rabs x ^ m)) by ring.
  apply Rmult_le_compat; auto using Rabs_pos.
Qed.
Lemma slow_opposite f : slow f -> slow (fun x => - f x).
Proof. intros (c & n & C & F). exists c, n. split; [exact C |]. intros x X. rewrite Rabs_Ropp. auto. Qed.
Lemma slow_power f n : slow f -> slow (fun x => f x ^ n).
Proof. intros F. induction n as [| n I]; [apply (slow_constant 1) | now apply (slow_times f (fun x => f x ^ n))]. Qed.
Ltac slow := cbv beta; lazymatch goal with
  | |- slow (fun _ => ?c) => apply slow_constant
  | |- slow (fun x => x) => apply slow_letter
  | |- slow (fun x => @?f x + @?g x) => apply (slow_plus f g); slow
  | |- slow (fun x => @?f x - @?g x) => apply (slow_plus f (fun x => - g x)); slow
  | |- slow (fun x => @?f x * @?g x) => apply (slow_times f g); slow
  | |- slow (fun x => @?f x / @?g x) => apply (slow_times f (fun x => / g x)); slow
  | |- slow (fun x => - @?f x) => apply (slow_opposite f); slow
  | |- slow (fun x => @?f x ^ ?n) => apply (slow_power f n); slow
  end.
Lemma power_of_exp e m : powerRZ (exp e) m = exp (IZR m * e).
Proof. rewrite powerRZ_Rpower by apply exp_pos. unfold Rpower. now rewrite ln_exp. Qed.
Lemma exp_times a n : exp (INR n * a) = exp a ^ n.
Proof. rewrite pow_powerRZ, power_of_exp, <- INR_IZR_INZ. reflexivity. Qed.
Lemma decays f r : 0 < r -> slow f -> exists k, forall x, 1 <= Rabs x -> Rabs (f x) * exp (- (r * Rabs x)) <= k / Rabs x.
Proof.
  intros P (c & n & C & F). exists (c * / (r / INR (S n)) ^ S n). intros x X. set (y := Rabs x) in *.
  assert (N : 0 < INR (S n)) by (apply lt_0_INR; lia). assert (Q : 0 < r / INR (S n)) by now apply Rdiv_lt_0_compat.
  set (q := r / INR (S n)) in *. assert (E : (q * y) ^ S n <= exp (r * y)).
  { replace (r * y) with (INR (S n) * (q * y)) by (unfold q; field; lra). rewrite exp_times. apply pow_incr. pose proof (exp_ineq1_le (q * y)). split; [apply Rmult_le_pos |]; lra. }
  rewrite exp_Ropp. pose proof (F x X) as B. fold y in B. rewrite Rpow_mult_distr in E.
  assert (0 < q ^ S n) by now apply pow_lt. assert (0 < y ^ S n) by (apply pow_lt; lra). pose proof (exp_pos (r * y)).
  apply Rle_trans with (c * y ^ n * / exp (r * y)); [apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat | exact B] |].
  apply Rle_trans with (c * y ^ n * / (q ^ S n * y ^ S n)).
  - apply Rmult_le_compat_l; [apply Rmult_le_pos; [exact C | apply pow_le; lra] |]. apply Rinv_le_contravar; [now apply Rmult_lt_0_compat | exact E].
  - right. simpl. field. repeat split; try lra; apply pow_nonzero; lra.
Qed.

Lemma at_ends (f : R -> R) k : (forall x, 1 <= Rabs x -> Rabs (f x) <= k / Rabs x) ->
  filterlim f (Rbar_locally p_infty) (locally 0) /\ filterlim f (Rbar_locally m_infty) (locally 0).
Proof.
  intros F. assert (forall e : posreal, forall x, Rabs k / e + 1 <= Rabs x -> ball 0 e (f x)) as B.
  { intros e x X. destruct e as [e E]; simpl in *. assert (0 <= Rabs k / e) by (apply Rmult_le_pos; [apply Rabs_pos | left; now apply Rinv_0_lt_compat]).
    change (Rabs (f x - 0) < e). rewrite Rminus_0_r. apply Rle_lt_trans with (k / Rabs x); [apply F; lra |].
    apply Rmult_lt_reg_r with (Rabs x); [lra |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    apply Rle_lt_trans with (Rabs k / e * e); [unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; pose proof (Rle_abs k); lra |].
    rewrite Rmult_comm. apply Rmult_lt_compat_l; lra. }
  split; intros P [e Q].
  - exists (Rabs k / e + 1). intros x X. apply Q, B. pose proof (Rle_abs x). lra.
  - exists (- (Rabs k / e + 1)). intros x X. apply Q, B. rewrite <- (Rabs_Ropp x). pose proof (Rle_abs (- x)). lra.
Qed.
Lemma limit_of_sum (f g : R -> R) (F : (R -> Prop) -> Prop) a b c : Filter F -> c = a + b ->
  filterlim f F (locally a) -> filterlim g F (locally b) -> filterlim (fun x => f x + g x) F (locally c).
Proof. intros P -> A B. apply (filterlim_comp_2 f g Rplus A B). apply (filterlim_plus a b). Qed.
(* The integral of a derivative, by what it tends to. *)
Lemma integral_by (F f : R -> R) (G H : (R -> Prop) -> Prop) low high : Filter G -> Filter H ->
  (forall x, is_derive F x (f x)) -> (forall x, ex_derive f x) ->
  filterlim F G (locally low) -> filterlim F H (locally high) -> is_RInt_gen f G H (high - low).
Proof.
  intros P Q D C L U. apply (is_RInt_gen_ext (Derive F)).
  { apply filter_forall. intros. now apply is_derive_unique. }
  apply is_RInt_gen_Derive; [| | exact L | exact U]; apply filter_forall; intros _ x _.
  - now exists (f x).
  - apply (continuous_ext f); [intros; symmetry; now apply is_derive_unique |]. now apply (ex_derive_continuous f).
Qed.
Lemma integral_is f G H (v : R) : ProperFilter' G -> ProperFilter' H -> is_RInt_gen f G H v -> integrable f G H /\ integral f G H = v.
Proof. intros P Q I. split; [now exists v |]. now apply is_RInt_gen_unique. Qed.
Lemma exponential_integral f r a q dq : 0 < r -> slow q -> (forall x, is_derive q x (dq x)) -> (forall x, ex_derive dq x) ->
  (forall x, f x = (dq x - r * q x) * exp (- (r * x))) ->
  integrable f (at_point a) (Rbar_locally p_infty) /\
    integral f (at_point a) (Rbar_locally p_infty) = - (q a * exp (- (r * a))).
Proof.
  intros P S D C E. apply integral_is; [exact _ | exact _ |]. replace (- (q a * exp (- (r * a)))) with (0 - q a * exp (- (r * a))) by ring.
  apply (is_RInt_gen_ext (fun x => (dq x - r * q x) * exp (- (r * x)))); [apply filter_forall; intros; symmetry; apply E |].
  apply (integral_by (fun x => q x * exp (- (r * x)))); try exact _.
  - intros x. auto_derive; [repeat split; now exists (dq x) |]. change (Derive (fun x => q x) x) with (Derive q x). rewrite (is_derive_unique q x _ (D x)). ring.
  - intros x. auto_derive. repeat split; [apply C | now exists (dq x)].
  - intros Q L. simpl. unfold at_point, filtermap. apply locally_singleton. exact L.
  - destruct (decays q r P S) as [k K]. destruct (at_ends (fun x => q x * exp (- (r * Rabs x))) k) as [U _].
    { intros x X. rewrite Rabs_mult, (Rabs_pos_eq (exp _)) by (left; apply exp_pos). now apply K. }
    apply (filterlim_ext_loc (fun x => q x * exp (- (r * Rabs x)))); [exists 0; intros; rewrite Rabs_pos_eq by lra; reflexivity | exact U].
Qed.
Lemma Phi_ends : filterlim Phi (Rbar_locally p_infty) (locally 1) /\ filterlim Phi (Rbar_locally m_infty) (locally 0).
Proof.
  assert (B : forall x, 0 < x -> Rabs (Phi (- x)) <= 1 / Rabs x).
  { intros x X. rewrite !Rabs_pos_eq by (try (left; apply Phi_positive); lra). pose proof (Phi_far x X).
    apply Rmult_le_reg_r with x; [exact X |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  destruct (at_ends (fun x => Phi (- Rabs x)) 1) as [U L].
  { intros x X. rewrite <- (Rabs_Rabsolu x) at 2. apply B. lra. }
  split.
  - apply (filterlim_ext_loc (fun x => 1 + - Phi (- Rabs x))).
    { exists 0. intros. rewrite Rabs_pos_eq, Phi_reflected by lra. ring. }
    apply (limit_of_sum _ _ _ 1 0); [exact _ | ring | apply filterlim_const |].
    replace 0 with (- 0) by ring. apply (filterlim_comp _ _ _ _ Ropp _ _ _ U). apply (filterlim_opp 0).
  - apply (filterlim_ext_loc (fun x => Phi (- Rabs x))); [| exact L].
    exists 0. intros. rewrite Rabs_left by lra. now rewrite Ropp_involutive.
Qed.
(* An end of an integral of a bell: what the normal law's part and the other part of the primitive tend to. *)
Definition bell_end r c (p : R -> R) (G : (R -> Prop) -> Prop) u v := ProperFilter G /\
  filterlim (fun x => Phi ((x - c) * sqrt (2 * r))) G (locally u) /\ filterlim (fun x => p x * exp (- (r * (x - c) ^ 2))) G (locally v).
Lemma limit_at_point (f : R -> R) a : filterlim f (at_point a) (locally (f a)).
Proof. intros Q L. unfold at_point, filtermap. apply locally_singleton. exact L. Qed.
Lemma bell_end_at r c p a : bell_end r c p (at_point a) (Phi ((a - c) * sqrt (2 * r))) (p a * exp (- (r * (a - c) ^ 2))).
Proof. split; [exact _ |]. split; [apply (limit_at_point (fun x => Phi ((x - c) * sqrt (2 * r)))) | apply (limit_at_point (fun x => p x * exp (- (r * (x - c) ^ 2))))]. Qed.
Lemma bell_ends r c p : 0 < r -> slow p -> bell_end r c p (Rbar_locally p_infty) 1 0 /\ bell_end r c p (Rbar_locally m_infty) 0 0.
Proof.
  intros P S. assert (R : 0 < sqrt (2 * r)) by (apply sqrt_lt_R0; lra).
  assert (V : exists v, forall x, 1 <= Rabs x -> Rabs (p x * exp (- (r * (x - c) ^ 2))) <= v / Rabs x).
  { destruct (decays p (r / 2) ltac:(lra) S) as [v K]. exists (exp (r * c ^ 2) * v). intros x X.
    rewrite Rabs_mult, (Rabs_pos_eq (exp _)) by (left; apply exp_pos). unfold Rdiv. rewrite Rmult_assoc.
    apply Rle_trans with (exp (r * c ^ 2) * (Rabs (p x) * exp (- (r / 2 * Rabs x)))); [| apply Rmult_le_compat_l; [left; apply exp_pos | now apply K]].
    replace (exp (r * c ^ 2) * (Rabs (p x) * exp (- (r / 2 * Rabs x)))) with (Rabs (p x) * exp (r * c ^ 2 + - (r / 2 * Rabs x))) by (rewrite exp_plus; ring).
    apply Rmult_le_compat_l; [apply Rabs_pos |]. apply exp_order. assert (Rabs x <= x ^ 2) by (rewrite <- (pow2_abs x); nra).
    assert (x ^ 2 / 2 <= (x - c) ^ 2 + c ^ 2) by (pose proof (pow2_ge_0 (x - 2 * c)); nra). nra. }
  destruct V as [v V]. destruct (at_ends _ _ V) as [U L]. destruct Phi_ends as [PU PL].
  assert (A : forall m x, m < (x - c) * sqrt (2 * r) <-> m / sqrt (2 * r) + c < x).
  { intros m x. split; intros X; [apply Rplus_lt_reg_r with (- c) | apply Rplus_lt_compat_r with (r := - c) in X];
      [apply Rmult_lt_reg_r with (sqrt (2 * r)) | apply Rmult_lt_compat_r with (r := sqrt (2 * r)) in X]; try exact R;
      replace ((m / sqrt (2 * r) + c + - c) * sqrt (2 * r)) with m in * by (field; lra); exact X. }
  split; (split; [exact _ | split; [| assumption]]).
  - apply (filterlim_comp _ _ _ (fun x => (x - c) * sqrt (2 * r)) Phi _ (Rbar_locally p_infty)); [| exact PU].
    intros Q [m M]. exists (m / sqrt (2 * r) + c). intros x X. apply M, A, X.
  - apply (filterlim_comp _ _ _ (fun x => (x - c) * sqrt (2 * r)) Phi _ (Rbar_locally m_infty)); [| exact PL].
    intros Q [m M]. exists (m / sqrt (2 * r) + c). intros x X. apply M. destruct (Rlt_le_dec ((x - c) * sqrt (2 * r)) m) as [| [Y | Y]]; [assumption | |].
    + apply A in Y. lra.
    + subst m. replace ((x - c) * sqrt (2 * r) / sqrt (2 * r) + c) with x in X by (field; lra). lra.
Qed.
Lemma gaussian_integral f k r c p dp G H u v u' v' value : bell_end r c p G u v -> bell_end r c p H u' v' -> value = k * sqrt (PI / r) * (u' - u) + (v' - v) ->
  0 < r -> (forall x, is_derive p x (dp x)) -> (forall x, ex_derive dp x) ->
  (forall x, f x = (k + dp x - 2 * r * (x - c) * p x) * exp (- (r * (x - c) ^ 2))) ->
  integrable f G H /\ integral f G H = value.
Proof.
  intros (PG & UG & VG) (PH & UH & VH) -> P D C E. apply integral_is; [exact _ | exact _ |]. pose proof PI_RGT_0.
  replace (k * sqrt (PI / r) * (u' - u) + (v' - v)) with (k * sqrt (PI / r) * u' + v' - (k * sqrt (PI / r) * u + v)) by ring.
  apply (is_RInt_gen_ext (fun x => (k + dp x - 2 * r * (x - c) * p x) * exp (- (r * (x - c) ^ 2)))); [apply filter_forall; intros; symmetry; apply E |].
  apply (integral_by (fun x => k * sqrt (PI / r) * Phi ((x - c) * sqrt (2 * r)) + p x * exp (- (r * (x - c) ^ 2)))); try exact _.
  - intros x. auto_derive; [repeat split; [apply Phi_derivable | now exists (dp x)] |].
    change (Derive (fun x => p x) x) with (Derive p x). change (Derive (fun x => Phi x)) with (Derive Phi). rewrite (is_derive_unique p x _ (D x)), Phi_derivative.
    replace (x + - c) with (x - c) by ring. replace (- ((x - c) * sqrt (2 * r) * ((x - c) * sqrt (2 * r))) / 2) with (- (r * (x - c) ^ 2)).
    2: { pose proof (sqrt_sqrt (2 * r) ltac:(lra)). set (s := sqrt (2 * r)) in *. clearbody s. replace r with (s * s / 2) by lra. field. }
    rewrite (sqrt_div PI r), (sqrt_mult 2 PI), (sqrt_mult 2 r) by lra. assert (0 < sqrt 2) by (apply sqrt_lt_R0; lra).
    assert (0 < sqrt PI) by now apply sqrt_lt_R0. assert (0 < sqrt r) by now apply sqrt_lt_R0. change ((x - c) * ((x - c) * 1)) with ((x - c) ^ 2). field. repeat split; lra.
  - intros x. auto_derive. repeat split; [apply C | now exists (dp x)].
  - refine (limit_of_sum _ _ _ _ _ _ _ eq_refl (filterlim_comp _ _ _ _ (Rmult (k * sqrt (PI / r))) _ _ _ UG _) VG). apply (filterlim_scal_r (K := R_AbsRing) (V := R_NormedModule)).
  - refine (limit_of_sum _ _ _ _ _ _ _ eq_refl (filterlim_comp _ _ _ _ (Rmult (k * sqrt (PI / r))) _ _ _ UH _) VH). apply (filterlim_scal_r (K := R_AbsRing) (V := R_NormedModule)).
Qed.
(* Between two numbers, by a primitive there. *)
Lemma integral_between (f F dF : R -> R) a b : a <= b -> (forall x, a <= x -> x <= b -> is_derive F x (dF x)) ->
  (forall x, a <= x -> x <= b -> ex_derive f x) -> (forall x, a <= x -> x <= b -> f x = dF x) ->
  integrable f (at_point a) (at_point b) /\ integral f (at_point a) (at_point b) = F b - F a.
Proof.
  intros L D C E. apply integral_is; [exact _ | exact _ |]. apply is_RInt_gen_at_point.
  apply (is_RInt_derive F f); intros x; rewrite (Rmin_left a b L), (Rmax_right a b L); intros [X Y];
    [rewrite (E x X Y); now apply D | now apply (ex_derive_continuous f), C].
Qed.
Ltac quantiles q := repeat match goal with |- context [Phi_inverse ?p] => first
  [ replace (Phi_inverse p) with q by (replace p with (Phi q) by lra; symmetry; apply quantile_is)
  | replace (Phi_inverse p) with (- q) by (replace p with (1 - Phi q) by lra; symmetry; apply quantile_reflected) ] end.

(* Far along the integers, where what grows is above any number. *)
Lemma far_along (low : Z) x : exists t : Z, IZR low <= IZR t /\ x <= IZR t.
Proof.
  exists (Z.max low (up x)). split; [apply IZR_le, Z.le_max_l |]. destruct (archimed x).
  apply Rle_trans with (IZR (up x)); [lra | apply IZR_le, Z.le_max_r].
Qed.
Lemma far_by (f : R -> R) (low : Z) k x y : 0 < k -> (forall t, y <= t -> x / k <= f t) -> exists t : Z, IZR low <= IZR t /\ x <= k * f (IZR t).
Proof.
  intros K F. destruct (far_along low y) as [t [L Y]]. exists t. split; [exact L |].
  replace x with (k * (x / k)) by (field; lra). apply Rmult_le_compat_l; [lra | now apply F].
Qed.
Lemma far_line low k x : 0 < k -> exists t : Z, IZR low <= IZR t /\ x <= k * IZR t.
Proof. intros K. now apply (far_by (fun t => t) low k x (x / k)). Qed.
Lemma far_root low k x : 0 < k -> exists t : Z, IZR low <= IZR t /\ x <= k * sqrt (IZR t).
Proof.
  intros K. apply (far_by sqrt low k x (x / k * (x / k)) K). intros t T. apply Rle_trans with (1 := Rle_abs _).
  rewrite <- sqrt_Rsqr_abs. apply sqrt_le_1_alt, T.
Qed.
Lemma far_log low k x : 0 < k -> exists t : Z, IZR low <= IZR t /\ x <= k * ln (IZR t).
Proof.
  intros K. apply (far_by ln low k x (exp (x / k)) K). intros t T. rewrite <- (ln_exp (x / k)) at 1. apply log_order; [apply exp_pos | exact T].
Qed.
Lemma inverse_below c r : 0 < c -> / c <= r -> 1 <= c * r.
Proof. intros C R. replace 1 with (c * / c) by (field; lra). apply Rmult_le_compat_l; lra. Qed.

(* ------------------------------------------------------------------ chains *)
Lemma below_by_difference l r : 0 < r - l -> l < r.
Proof. lra. Qed.
Lemma same_nonnegative g f : f = g -> 0 <= g -> 0 <= f.
Proof. intros ->. easy. Qed.
Lemma same_positive g f : f = g -> 0 < g -> 0 < f.
Proof. intros ->. easy. Qed.
Lemma exp_difference u v : 0 <= v - u -> 0 <= exp v - exp u.
Proof. intros H. pose proof (exp_order u v ltac:(lra)). lra. Qed.
Lemma exp_rises u v : 0 < v - u -> 0 < exp v - exp u.
Proof. intros H. pose proof (exp_increasing u v ltac:(lra)). lra. Qed.
Lemma log_difference u v : 0 < u -> 0 <= v - u -> 0 <= ln v - ln u.
Proof. intros P H. pose proof (log_order u v P ltac:(lra)). lra. Qed.
Lemma log_rises u v : 0 < u -> 0 < v - u -> 0 < ln v - ln u.
Proof. intros P H. pose proof (ln_increasing u v P ltac:(lra)). lra. Qed.
Lemma phi_difference u v : 0 <= v - u -> 0 <= Phi v - Phi u.
Proof. intros H. pose proof (Phi_order u v ltac:(lra)). lra. Qed.
Lemma whole_is_exp b n e : 0 < b -> IZR n = e -> powerRZ b n = exp (e * ln b).
Proof. intros H <-. now apply powerRZ_Rpower. Qed.
Ltac integer_is := rewrite ?plus_IZR, ?mult_IZR; ring.
Lemma no_fall f g a x : a <= x -> continuity_pt f a ->
  (forall t, a < t <= x -> is_derive f t (g t) /\ 0 <= g t) -> f a <= f x.
Proof.
  intros [L | ->] C D; [| lra]. destruct (MVT_gen f a x (fun t => if Rle_dec t a then 0 else g t)) as [c [B V]];
    rewrite ?Rmin_left, ?Rmax_right in * by lra.
  - intros t T. destruct (Rle_dec t a); [lra | apply D; lra].
  - intros t T. destruct (Req_dec t a) as [-> | N]; [exact C | apply derivable_continuous_pt].
    exists (g t). apply is_derive_Reals, D. lra.
  - destruct (Rle_dec c a); [lra |]. pose proof (D c ltac:(lra)). nra.
Qed.
Lemma no_rise f g a x : x <= a -> continuity_pt f a ->
  (forall t, x <= t < a -> is_derive f t (g t) /\ 0 <= - g t) -> f a <= f x.
Proof.
  intros [L | ->] C D; [| lra]. destruct (MVT_gen f x a (fun t => if Rle_dec a t then 0 else g t)) as [c [B V]];
    rewrite ?Rmin_left, ?Rmax_right in * by lra.
  - intros t T. destruct (Rle_dec a t); [lra | apply D; lra].
  - intros t T. destruct (Req_dec t a) as [-> | N]; [exact C | apply derivable_continuous_pt].
    exists (g t). apply is_derive_Reals, D. lra.
  - destruct (Rle_dec a c); [lra |]. pose proof (D c ltac:(lra)). nra.
Qed.
Lemma climbs f g a x : a < x -> continuity_pt f a ->
  (forall t, a < t <= x -> is_derive f t (g t) /\ 0 < g t) -> f a < f x.
Proof.
  intros L C D. apply Rle_lt_trans with (f ((a + x) / 2)).
  - apply (no_fall f g); [lra | exact C |]. intros t T. destruct (D t ltac:(lra)). split; [assumption | lra].
  - destruct (MVT_gen f ((a + x) / 2) x g) as [c [B V]]; rewrite ?Rmin_left, ?Rmax_right in * by lra.
    + intros t T. apply D. lra.
    + intros t T. apply derivable_continuous_pt. exists (g t). apply is_derive_Reals, D. lra.
    + destruct (D c ltac:(lra)). nra.
Qed.
(* What falls, and is not below - s far out for any s, is not negative. *)
Lemma from_far f g e x : (forall s t, 0 < s -> e s <= t -> x <= t -> 0 <= f t + s) ->
  (forall t, x <= t -> is_derive f t (g t) /\ 0 <= - g t) -> 0 <= f x.
Proof.
  intros E D. destruct (Rle_lt_dec 0 (f x)) as [? | N]; [assumption |].
  set (t := Rmax x (e (- f x / 2))). pose proof (Rmax_l x (e (- f x / 2))) as X. pose proof (E (- f x / 2) t ltac:(lra) (Rmax_r _ _) X).
  assert (- f x <= - f t); [| lra]. apply (no_fall (fun t => - f t) (fun t => - g t)); [exact X | |].
  - apply derivable_continuous_pt. exists (- g x). apply is_derive_Reals. apply (is_derive_opp f), D. lra.
  - intros u U. split; [apply (is_derive_opp f) |]; apply D; lra.
Qed.
Lemma continuous_of_derivable f a : ex_derive f a -> continuity_pt f a.
Proof. intros [l D]. apply derivable_continuous_pt. exists l. now apply is_derive_Reals. Qed.
Lemma locally_positive (f : R -> R) (x : R) : ex_derive f x -> 0 < f x -> locally x (fun y => 0 < f y).
Proof. intros D P. apply (ex_derive_continuous f x D). now apply open_gt. Qed.
Lemma locally_above (f : R -> R) (x : R) : ex_derive f x -> 0 < f x -> locally x (fun y => 0 <= f y).
Proof. intros D P. generalize (locally_positive f x D P). apply filter_imp. intros; lra. Qed.
Lemma locally_nonzero (f : R -> R) (x : R) : ex_derive f x -> f x <> 0 -> locally x (fun y => f y <> 0).
Proof.
  intros D N. destruct (Rlt_le_dec 0 (f x)) as [P | P].
  - generalize (locally_positive f x D P). apply filter_imp. intros; lra.
  - generalize (locally_positive (fun y => - f y) x ltac:(auto_derive; assumption) ltac:(lra)). apply filter_imp. intros; lra.
Qed.
(* What needs no combination. *)
Ltac without_search := first
  [ lra | match goal with H : ?a <> ?b |- _ => exfalso; apply H; lra end | solve [sign] | fields | solve [branches; lra] ].
Ltac arithmetic := first [solve [sign] | identity | branches; first [lra | lettered; nra]].

Ltac one_integer := repeat match goal with
  | |- context [powerRZ ?b ?m] => match goal with
    | |- context [powerRZ b ?k] => tryif constr_eq m k then fail else replace m with k by lia end
  end.
Ltac terms_of_binomial := intros ? [? ?]; cbv beta; one_integer; rewrite ?power_of_exp, ?powerRZ_R1;
  rewrite ?plus_IZR, ?minus_IZR, ?mult_IZR; identity.
(* A claim in the letters of the step from an integer to the next, for what they stand for. *)
Ltac known_of_letter := first
  [ assumption | apply factorial_least | apply binomial_positive; lia | apply powerRZ_lt; sign
  | apply power_nonnegative; [sign | lia] | apply power_most; [sign | sign | lia] | apply power_least; [sign | lia] ].
Ltac one_further := lazymatch goal with
  | |- sum ?f ?a ?m = sum _ _ ?n + _ => rewrite (sum_next f a n m) by lia
  | |- product ?f ?a ?m = product _ _ ?n * _ => rewrite (product_next f a n m) by lia
  | |- powerRZ ?b ?m = _ (powerRZ _ ?n) _ => first
    [ rewrite (power_next b n m) by first [lia | left; sign | right; lia] | rewrite (power_before b n m) by first [lia | sign] ]
  | |- factorial ?m = factorial ?n * _ => rewrite (factorial_next n m) by lia
  | _ => idtac
  end; cbv beta; of_integers; first [reflexivity | identity | f_equal; lia].

Ltac given := first [assumption | sign | lra | enclosed | apply sqrt_le_1_alt; lra | lettered; nra].
Ltac defined := lazymatch goal with
  | |- (_ <= _)%Z => ordered
  | |- forall _ : Z, (_ <= _ <= _)%Z -> _ => let low := fresh in let high := fresh in
    intros ? [low high]; apply IZR_le in low, high; repeat split; defined
  | |- forall _ : R, _ => intros; repeat split; defined
  | |- power_defined _ _ => apply power_defined_positive; given
  | |- _ <> 0 \/ 0 <= _ => first [left; given | right; given]
  | |- locally ?x (fun y => @?f y /\ @?g y) => apply (filter_and f g); defined
  | |- locally ?x (fun y => 0 <= @?f y) => first
    [ apply (locally_above f x); [auto_derive; repeat split; first [exact I | defined] | cbv beta; sign] | apply filter_forall; intros; defined ]
  | |- locally ?x (fun y => 0 < @?f y) => first
    [ apply (locally_positive f x); [auto_derive; repeat split; first [exact I | defined] | cbv beta; sign] | apply filter_forall; intros; defined ]
  | |- locally ?x (fun y => @?f y <> 0) => first
    [ apply (locally_nonzero f x); [auto_derive; repeat split; first [exact I | defined] | cbv beta; sign] | apply filter_forall; intros; defined ]
  | |- locally _ _ => apply filter_forall; intros; repeat split; defined
  | |- ex_derive _ _ => auto_derive; repeat split; first [exact I | apply Phi_derivable | defined]
  | _ => first [sign | arithmetic | enclosed]
  end.
Ltac defined_all := repeat split; first [given | defined].
Lemma exp_of_log_times c u y : 0 < c -> 0 < y -> u = ln y - ln c -> c * exp u = y.
Proof.
  intros C Y ->. unfold Rminus. rewrite exp_plus, exp_Ropp, !exp_ln by assumption. field. lra.
Qed.
Ltac roots_then_logs := reals; roots_apart; root_letters;
  repeat match goal with H : _ = _ |- _ => revert H end; logs_apart; simpl INR; intros; first [fields | fields_with_roots].
Ltac same_values := first
  [ identity | exponential_is | apply exp_of_log; [sign | roots_then_logs]
  | apply exp_of_log_times; [sign | sign | roots_then_logs]
  | logs_apart; exponentials_apart; identity | roots_then_logs ].
Lemma exp_of_zero a : a = 0 -> exp a = 1.
Proof. intros ->. exact exp_0. Qed.
Lemma log_of_one u : u = 1 -> ln u = 0.
Proof. intros ->. exact ln_1. Qed.
Ltac no_exponents := repeat match goal with
  | |- context [exp ?a] => rewrite (exp_of_zero a) by fields
  | |- context [ln ?u] => rewrite (log_of_one u) by (repeat rewrite (exp_of_zero _) by fields; fields)
  end.
Ltac vanishing := repeat first
  [ rewrite Rmult_0_l | rewrite Rmult_0_r | rewrite Rplus_0_l | rewrite Rplus_0_r | rewrite Rminus_0_r | rewrite Ropp_0
  | rewrite exp_0 | rewrite ln_1 | rewrite Phi_zero ]; first [lra | ring_simplify; lra | no_exponents; first [lra | apply Req_le; same_values]].
Ltac sum_of_parts := lra.
Ltac product_of_parts := unfold Rdiv in *; let rec each :=
  first [assumption | apply Rmult_le_pos; each | apply Rmult_lt_0_compat; each | lra] in each.
Ltac between_ends := first [assumption | lra | nra].
Ltac continuous_there := first
  [ apply continuous_of_derivable; auto_derive; repeat split; first [exact I | apply Phi_derivable | defined]
  | solve [reg; apply derivable_continuous_pt; eexists; apply derivable_pt_lim_ln; sign] ].
Ltac derived := auto_derive; [repeat split; first [exact I | apply Phi_derivable | defined] |
  rewrite ?Phi_derivative; first [same_values | cbn [Rpow_def.pow] in *; same_values]].
Ltac differentiated := apply is_derive_unique; derived.
(* A quotient is not negative, is positive. *)
Ltac at_most_over := apply Rmult_le_pos; [assumption | apply inverse_nonnegative, Rlt_le; sign].
Ltac below_over := apply Rmult_lt_0_compat; [assumption | apply Rinv_0_lt_compat; sign].
(* Conditions before a comparison, which is no conjunction; each is kept. *)
Ltac conditions := repeat match goal with |- ?first /\ _ => let h := fresh "condition" in assert (h : first) by defined; split; [exact h |] end.

Lemma at_most_by_squares b s l r : r = b -> r * r - l * l = s -> 0 <= b -> 0 <= s -> l <= r.
Proof. intros -> H Hb Hs. apply by_squares; [exact Hb | nra]. Qed.
Ltac nonnegative_product := first
  [ apply inner_nonnegative | apply norm_nonnegative | apply cauchy_schwarz | given
  | apply Rmult_le_pos; nonnegative_product | apply Rmult_lt_0_compat; nonnegative_product ].
Ltac nonnegative_products := repeat first
  [ apply inner_nonnegative | apply norm_nonnegative | apply cauchy_schwarz | lra | sign
  | apply Rmult_le_pos | apply Rmult_lt_0_compat ].
Lemma equal_by s l r : r - l = s -> s = 0 -> l = r.
Proof. lra. Qed.
Ltac zero_products := repeat match goal with
  | |- ?a * ?b = 0 => first [replace b with 0 by lra; ring | replace a with 0 by lra; ring | apply Rmult_eq_0_compat_r]
  end.
Ltac parts_zero := repeat match goal with H : _ = 0 |- _ => rewrite H; clear H end; ring.
Ltac equal_products := match goal with
  | |- 0 <= ?a * ?b => first [replace b with 0 by lra; rewrite Rmult_0_r; lra | replace a with 0 by lra; rewrite Rmult_0_l; lra]
  | |- 0 <= ?a => replace a with 0 by lra; lra
  end.
Ltac at_first := worked_out; first [reflexivity | same_values].
