export { carryOut, type Outcome } from './carry-out.ts';
export { planPromotion, type Promotion, PromotionError, type PromotionRequest } from './plan-promotion.ts';
